import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ConfigError, getMessage, SourceError } from '../../src/lib/errors.ts';
import { SOURCE_TYPES, type SourceTypes } from '../../src/sources/registry.ts';
import { type Environment, readVariable } from '../environment.ts';
import { interpolate, missingVariable } from './interpolate.ts';
import { createManifestSchema, type Manifest } from './manifest.ts';
import { SECRET_REFERENCE } from './manifest-fields.ts';
import { explainIssues, type Mistake } from './manifest-mistakes.ts';
import { parseManifestText } from './manifest-text.ts';
import type { KeyPath } from './schema-keys.ts';

export interface LoadedManifest {
  /** Holds no secret: may be stored, shown and logged as it is. */
  readonly manifest: Manifest;
  /** Folder that relative paths of `source.from` start from. */
  readonly baseDir: string;
  /** The destination's project key; undefined for the bundled API. */
  readonly apiKey: string | undefined;
  /** Values that no log, report or message may hold. */
  readonly secrets: readonly string[];
}

export interface LoadOptions {
  readonly env: Environment;
  /**
   * Whether the variable that names the project key must be set: nothing is sent without it.
   * @default true
   */
  readonly needsKey?: boolean;
  readonly types?: SourceTypes | undefined;
}

/** Reads a YAML or JSON manifest, or throws one ConfigError that names every mistake in it. */
export async function loadManifest(path: string, options: LoadOptions): Promise<LoadedManifest> {
  const { manifest, apiKey } = parseManifest(await readText(path), path, options);
  const hashKey = readSecret(manifest, HASH_KEY, options.env);
  return {
    manifest,
    baseDir: dirname(resolve(path)),
    apiKey,
    secrets: [
      ...(apiKey === undefined ? [] : [apiKey]),
      ...(hashKey.kind === 'value' ? [hashKey.value] : []),
    ],
  };
}

/** `file` is what messages call the text. */
export function parseManifest(
  text: string,
  file: string,
  { env, needsKey = true, types = SOURCE_TYPES }: LoadOptions,
): { manifest: Manifest; apiKey: string | undefined } {
  const { tree, syntaxErrors, locate } = parseManifestText(text);
  if (syntaxErrors.length > 0) throw explainMistakes(file, syntaxErrors);
  if (tree === null || tree === undefined) throw explainMistakes(file, ['1:1  is empty']);

  const filled = interpolate(tree, env, isSecretPath);
  const parsed = createManifestSchema(types).safeParse(filled.value);
  // A text whose variable is missing was not filled in: what the schema reports of it would mislead.
  const unfilled = new Set(filled.problems.map(({ path }) => path.join('.')));
  const mistakes = [
    ...filled.problems.map(({ path, message }): Mistake => ({ path, message, at: 'value' })),
    ...explainIssues(parsed.error?.issues ?? [], filled.value, types).filter(
      ({ path }) => !unfilled.has(path.join('.')),
    ),
  ];
  const key = readSecret(filled.value, API_KEY, env);
  for (const path of needsKey ? SECRETS : []) {
    const secret = readSecret(filled.value, path, env);
    if (secret.kind === 'missing') mistakes.push({ path, message: secret.message, at: 'value' });
  }
  if (mistakes.length > 0 || !parsed.data) {
    throw explainMistakes(
      file,
      mistakes
        .map((mistake) => ({
          at: locate(mistake),
          text: `${mistake.path.join('.') || 'the manifest'}: ${mistake.message}`,
        }))
        .toSorted((a, b) => a.at.localeCompare(b.at, 'en', { numeric: true }))
        .map(({ at, text }) => `${at}  ${text}`),
    );
  }
  return { manifest: parsed.data, apiKey: key.kind === 'value' ? key.value : undefined };
}

/** Parses a manifest from staging; `where` names the place in messages. */
export function parseStoredManifest(
  stored: unknown,
  where: string,
  types: SourceTypes = SOURCE_TYPES,
): Manifest {
  const parsed = createManifestSchema(types).safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new SourceError(
    `${where} holds a manifest that this version of Backhaul does not take; run the migration again with its manifest file (what was delivered is not sent twice)\n${z.prettifyError(parsed.error)}`,
    parsed.error,
  );
}

/** The project key that a manifest names, from this process's environment; undefined for the bundled API. */
export function readApiKey(manifest: Manifest, env: Environment): string | undefined {
  return requireSecret(manifest, API_KEY, env);
}

/** The key that a manifest names for hashing personal data; undefined where it hashes none. */
export function readHashKey(manifest: Manifest, env: Environment): string | undefined {
  return requireSecret(manifest, HASH_KEY, env);
}

function requireSecret(manifest: Manifest, path: KeyPath, env: Environment): string | undefined {
  const key = readSecret(manifest, path, env);
  if (key.kind === 'missing')
    throw new ConfigError(`Migration "${manifest.name}", ${path.join('.')}: ${key.message}`);
  return key.kind === 'value' ? key.value : undefined;
}

/** The first key that a manifest names and this process does not know: its variable, and what to do. */
export function findMissingKey(
  manifest: Manifest,
  env: Environment,
): { readonly variable: string; readonly message: string } | undefined {
  const secrets = SECRETS.map((path) => readSecret(manifest, path, env));
  return secrets.find((secret) => secret.kind === 'missing');
}

/** Whether the manifest's destination can be asked by this process: its key is known, or it needs none. */
export const knowsApiKey = (manifest: Manifest, env: Environment): boolean =>
  readSecret(manifest, API_KEY, env).kind !== 'missing';

/** Whether this process knows the key for hashing personal data, or needs none. */
export const knowsHashKey = (manifest: Manifest, env: Environment): boolean =>
  readSecret(manifest, HASH_KEY, env).kind !== 'missing';

const API_KEY = ['destination', 'apiKey'] as const;
const HASH_KEY = ['source', 'mapping', 'hash', 'key'] as const;
const SECRETS = [API_KEY, HASH_KEY];
const isSecretPath = (path: KeyPath) => SECRETS.some((secret) => secret.join('.') === path.join('.'));

type Secret =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'missing'; readonly variable: string; readonly message: string };

function readSecret(tree: unknown, path: KeyPath, env: Environment): Secret {
  const written = path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | null | undefined)?.[step],
    tree,
  );
  const name = typeof written === 'string' ? SECRET_REFERENCE.exec(written)?.[1] : undefined;
  if (name === undefined) return { kind: 'none' };
  const variable = readVariable(env, name);
  if (variable.kind === 'value') return variable;
  return { kind: 'missing', variable: name, message: missingVariable(name, variable) };
}

/** Data that was given in place of a manifest: what leads on is one line. */
function assertNoData(path: string, text: string): void {
  const isData =
    DATA_NAMES.test(path) ||
    text.includes('\u0000') ||
    (/^\s*[[{]/.test(text) && !/["']?source["']?\s*:/.test(text));
  if (isData)
    throw new ConfigError(`${path} is data and no manifest; write one for it with: backhaul init ${path}`);
}
const DATA_NAMES = /\.(csv|tsv|gz|zip|jsonl|ndjson|parquet|avro)$/i;

async function readText(path: string): Promise<string> {
  if (path.startsWith('s3://'))
    throw new ConfigError(
      `${path} is no manifest but a place of data; write one for it with: backhaul init ${path}`,
    );
  try {
    const text = await readFile(path, 'utf8');
    assertNoData(path, text);
    return text;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') {
      throw new ConfigError(
        `There is no manifest at ${resolve(path)}; give the path of a YAML or JSON file`,
        error,
      );
    }
    if (code === 'EISDIR') {
      throw new ConfigError(
        `${resolve(path)} is a folder; give the path of the YAML or JSON file that is the manifest, or write one for an export there with: backhaul init ${path}`,
        error,
      );
    }
    throw new ConfigError(`The manifest ${resolve(path)} cannot be read: ${getMessage(error)}`, error);
  }
}

function explainMistakes(file: string, lines: readonly string[]): ConfigError {
  const count = lines.length === 1 ? 'a mistake' : `${lines.length} mistakes`;
  return new ConfigError([`${file} has ${count}:`, ...lines.map((line) => `  ${file}:${line}`)].join('\n'));
}
