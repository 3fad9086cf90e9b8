import { randomInt } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../lib/errors.ts';
import { createPrivateFile, readTextIfThere } from './private-file.ts';

/** What the bundled API accepts: made once for a data folder, never a default. */
export const apiKeys = z.strictObject({
  /** For sending events. */
  projectKey: z.string().startsWith('phc_'),
  /** For reading and managing. */
  personalKey: z.string().startsWith('phx_'),
  /** Opens the queue dashboard, read-only, where the settings give no password. */
  queuesPassword: z.string().min(1),
});
export type ApiKeys = z.infer<typeof apiKeys>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** As many as hold 32 bytes of randomness. */
const KEY_CHARACTERS = 43;

export function loadApiKeys(dataDir: string): ApiKeys {
  const path = join(dataDir, 'keys.json');
  const kept = readTextIfThere(path);
  if (kept !== undefined) {
    chmodSync(path, 0o600); // a copy or a careless chmod may have opened it
    return parseApiKeys(kept, path);
  }
  const fresh: ApiKeys = {
    projectKey: `phc_${randomBase62()}`,
    personalKey: `phx_${randomBase62()}`,
    queuesPassword: randomBase62(),
  };
  if (createPrivateFile(path, `${JSON.stringify(fresh, null, 2)}\n`)) return fresh;
  return loadApiKeys(dataDir);
}

function parseApiKeys(text: string, path: string): ApiKeys {
  try {
    return apiKeys.parse(JSON.parse(text));
  } catch (error) {
    // Not shown: the text holds keys.
    throw new ConfigError(
      `${path} does not hold projectKey (phc_…), personalKey (phx_…) and queuesPassword as JSON. Mend it, or ` +
        'remove it to get new ones; clients of the bundled API then need them too.',
      error instanceof z.ZodError ? error : undefined,
    );
  }
}

function randomBase62(): string {
  return Array.from({ length: KEY_CHARACTERS }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}
