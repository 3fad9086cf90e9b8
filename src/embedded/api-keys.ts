import { randomInt } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../lib/errors.ts';
import { createPrivateFile, readTextIfThere } from './private-file.ts';

/** The keys of the bundled API: generated once per data folder, never a default. */
export const apiKeys = z.strictObject({
  /** For sending events. */
  projectKey: z.string().startsWith('phc_'),
  /** For reading and managing. */
  personalKey: z.string().startsWith('phx_'),
  /** Password of the queue dashboard, read-only; used when the settings give none. */
  queuesPassword: z.string().min(1),
});
export type ApiKeys = z.infer<typeof apiKeys>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Enough for 32 bytes of randomness. */
const KEY_CHARACTERS = 43;

export function loadApiKeys(dataDir: string): ApiKeys {
  const path = join(dataDir, 'keys.json');
  const stored = readTextIfThere(path);
  if (stored !== undefined) {
    chmodSync(path, 0o600); // a copy or a chmod may have made it readable for others
    return parseApiKeys(stored, path);
  }
  const fresh: ApiKeys = {
    projectKey: `phc_${randomBase62()}`,
    personalKey: `phx_${randomBase62()}`,
    queuesPassword: randomBase62(),
  };
  if (createPrivateFile(path, `${JSON.stringify(fresh, null, 2)}\n`)) return fresh;
  return loadApiKeys(dataDir);
}

/** The keys of an API that another machine or container runs with this data folder. Creates none. */
export function readApiKeys(dataDir: string): ApiKeys {
  const path = join(dataDir, 'keys.json');
  const stored = readTextIfThere(path);
  if (stored !== undefined) return parseApiKeys(stored, path);
  throw new ConfigError(
    `${path} is missing. BACKHAUL_API_URL names an API that runs elsewhere with this data folder, and its keys ` +
      'are in this file: start that API first, and give this process the same folder (BACKHAUL_DATA_DIR).',
  );
}

/** The key that events are sent with to the bundled API of a data folder; undefined where none was ever started. */
export function findProjectKey(dataDir: string): string | undefined {
  const path = join(dataDir, 'keys.json');
  const stored = readTextIfThere(path);
  return stored === undefined ? undefined : parseApiKeys(stored, path).projectKey;
}

function parseApiKeys(text: string, path: string): ApiKeys {
  try {
    return apiKeys.parse(JSON.parse(text));
  } catch (error) {
    // The text is not shown: it contains keys.
    throw new ConfigError(
      `${path} does not hold projectKey (phc_…), personalKey (phx_…) and queuesPassword as JSON. Correct it, or ` +
        'remove it to get new keys, which clients of the bundled API then need, too.',
      error instanceof z.ZodError ? error : undefined,
    );
  }
}

function randomBase62(): string {
  return Array.from({ length: KEY_CHARACTERS }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}
