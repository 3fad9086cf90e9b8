import type { z } from 'zod';
import { didYouMean, suggest } from '../../src/lib/suggest.ts';
import { locatedBlock } from '../../src/sources/files/define-file-source.ts';
import type { SourceTypes } from '../../src/sources/registry.ts';
import { createManifestJsonSchema } from './manifest.ts';
import { findKeyPlaces, type KeyPath, keysAt } from './schema-keys.ts';

/** One thing wrong with a manifest. `at`: which part of the text to point at. */
export interface Mistake {
  readonly path: KeyPath;
  readonly message: string;
  readonly at: 'value' | 'key' | 'parent';
}

type Issue = z.core.$ZodIssue;

/** The manifest that has the issues, and the JSON schema of all manifests: made only for unknown keys. */
interface Subject {
  readonly document: unknown;
  readonly getSchema: () => unknown;
}

/** What zod found, in words for the author of the manifest. */
export function explainIssues(issues: readonly Issue[], document: unknown, types: SourceTypes): Mistake[] {
  let schema: unknown;
  const subject: Subject = {
    document,
    getSchema() {
      schema ??= createManifestJsonSchema(types);
      return schema;
    },
  };
  return issues.flatMap((issue) => explain(issue, subject, []));
}

function explain(issue: Issue, subject: Subject, above: KeyPath): Mistake[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  const value = getAt(subject.document, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => explainUnknownKey(subject, path, key));
    case 'invalid_type':
      return [
        value === undefined
          ? missing(path)
          : wrong(
              path,
              `takes ${toNoun(issue.expected)}, not ${shown(value)}${quoting(issue.expected, value)}`,
            ),
      ];
    case 'invalid_value': {
      const options = issue.values.map(String);
      const near = typeof value === 'string' ? didYouMean(value, options) : '';
      return [
        value === undefined
          ? missing(path)
          : wrong(path, `takes ${listed(options)}, not ${shown(value)}${near}`),
      ];
    }
    case 'invalid_union':
      return explainUnion(issue, subject, path, value);
    case 'too_small':
      return [
        wrong(path, value === '' || Array.isArray(value) ? 'must not be empty' : lowerFirst(issue.message)),
      ];
    default:
      return [wrong(path, lowerFirst(issue.message))];
  }
}

function explainUnion(
  issue: Issue & { code: 'invalid_union' },
  subject: Subject,
  path: KeyPath,
  value: unknown,
): Mistake[] {
  if ('discriminator' in issue && issue.discriminator !== undefined) {
    const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
    const near = typeof value === 'string' ? didYouMean(value, options) : '';
    const mistake =
      value === undefined
        ? missing(path, ` (${listed(options)})`)
        : wrong(
            path,
            `takes ${listed(options)}, not ${shown(value)}${near}${near === '' ? OTHER_VENDORS : ''}`,
          );
    const block = path.slice(0, -1);
    const others = locatedBlock.safeParse(getAt(subject.document, block)).error?.issues ?? [];
    return [mistake, ...others.flatMap((other) => explain(other, subject, block))];
  }
  if (issue.message !== 'Invalid input')
    return [value === undefined ? missing(path) : wrong(path, issue.message)];
  // The branch of the right shape with the fewest mistakes is the one that was meant.
  const shaped = issue.errors.filter(
    (errors) => !errors.some((error) => error.code === 'invalid_type' && error.path.length === 0),
  );
  const [meant] = shaped.toSorted((a, b) => a.length - b.length);
  if (meant && value !== undefined) return meant.flatMap((error) => explain(error, subject, path));
  const nouns = issue.errors
    .flat()
    .flatMap((error) => (error.code === 'invalid_type' ? [toNoun(error.expected)] : []));
  return [
    value === undefined
      ? missing(path)
      : wrong(path, `takes ${listed([...new Set(nouns)])}, not ${shown(value)}`),
  ];
}

function explainUnknownKey({ document, getSchema }: Subject, path: KeyPath, key: string): Mistake {
  const schema = getSchema();
  const known = keysAt(schema, document, path);
  const elsewhere = suggest(key, known) === undefined ? findKeyPlaces(schema, document, key)[0] : undefined;
  const hint =
    elsewhere === undefined
      ? didYouMean(key, known) ||
        (known.length > 0 ? `; known here: ${known.filter((name) => !name.startsWith('$')).join(', ')}` : '')
      : `; did you mean "${elsewhere}"?`;
  return { path: [...path, key], message: `unknown key${hint}`, at: 'key' };
}

/** What comes from nobody in the list can still be declared. */
const OTHER_VENDORS =
  '; for what another vendor exports, "backhaul init <file or folder>" writes a manifest with a declared mapping (jsonl, csv)';

const missing = (path: KeyPath, options = ''): Mistake => ({
  path,
  message: `is missing${options}`,
  at: 'parent',
});
const wrong = (path: KeyPath, message: string): Mistake => ({ path, message, at: 'value' });

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a block of keys',
  record: 'a block of keys',
};
const toNoun = (expected: string): string => NOUNS[expected] ?? expected;

const quoting = (expected: string, value: unknown) =>
  expected === 'string' && ['number', 'boolean'].includes(typeof value) ? '; put it in quotes' : '';

function shown(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a block of keys';
  if (typeof value === 'string') return `"${value.length > 60 ? `${value.slice(0, 60)}…` : value}"`;
  return `${typeof value === 'number' ? 'the number ' : ''}${String(value)}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2
    ? (words[0] ?? 'something else')
    : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

function getAt(document: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | null | undefined)?.[step],
    document,
  );
}
