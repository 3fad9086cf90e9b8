import { readFile } from 'node:fs/promises';
import { ConfigError, getMessage } from '../src/lib/errors.ts';
import { parseManifestText } from './manifest/manifest-text.ts';
import { type Seed, seedSchema } from './seed.ts';

/** Loads the YAML or JSON file that BACKHAUL_SEED names. Throws one ConfigError that names every mistake. */
export async function loadSeed(path: string): Promise<Seed> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`BACKHAUL_SEED: ${path} cannot be read: ${getMessage(error)}`, error);
  }
  return parseSeed(text, path);
}

/** `file` is the name of the text in messages. */
export function parseSeed(text: string, file: string): Seed {
  const { tree, syntaxErrors, locate } = parseManifestText(text);
  if (syntaxErrors.length > 0) throw createSeedError(file, syntaxErrors);
  const parsed = seedSchema.safeParse(tree ?? {});
  if (parsed.data) return parsed.data;
  throw createSeedError(
    file,
    parsed.error.issues.map((issue) => {
      const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
      const at = locate({ path, message: issue.message, at: 'value' });
      return `${at}  ${path.join('.') || 'the seed'}: ${issue.message}`;
    }),
  );
}

function createSeedError(file: string, lines: readonly string[]): ConfigError {
  const count = lines.length === 1 ? 'a mistake' : `${lines.length} mistakes`;
  return new ConfigError([`${file} has ${count}:`, ...lines.map((line) => `  ${file}:${line}`)].join('\n'));
}
