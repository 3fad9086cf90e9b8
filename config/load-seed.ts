import { readFile } from 'node:fs/promises';
import { ConfigError, getMessage } from '../src/lib/errors.ts';
import { parseManifestText } from './manifest/manifest-text.ts';
import { type Seed, seedSchema } from './seed.ts';

/** Reads the YAML or JSON file that BACKHAUL_SEED names, or throws one ConfigError with every mistake in it. */
export async function loadSeed(path: string): Promise<Seed> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`BACKHAUL_SEED: ${path} cannot be read: ${getMessage(error)}`, error);
  }
  return parseSeed(text, path);
}

/** `file` is what messages call the text. */
export function parseSeed(text: string, file: string): Seed {
  const { tree, syntaxErrors, locate } = parseManifestText(text);
  if (syntaxErrors.length > 0) throw wrongSeed(file, syntaxErrors);
  const parsed = seedSchema.safeParse(tree ?? {});
  if (parsed.data) return parsed.data;
  throw wrongSeed(
    file,
    parsed.error.issues.map((issue) => {
      const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
      const at = locate({ path, message: issue.message, at: 'value' });
      return `${at}  ${path.join('.') || 'the seed'}: ${issue.message}`;
    }),
  );
}

function wrongSeed(file: string, lines: readonly string[]): ConfigError {
  const count = lines.length === 1 ? 'a mistake' : `${lines.length} mistakes`;
  return new ConfigError([`${file} has ${count}:`, ...lines.map((line) => `  ${file}:${line}`)].join('\n'));
}
