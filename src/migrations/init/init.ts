import { stat, writeFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { parseManifest } from '../../../config/manifest/load-manifest.ts';
import type { Slice } from '../../contract/slice.ts';
import { ConfigError, SourceError } from '../../lib/errors.ts';
import { findSourceFiles } from '../../sources/files/find-source-files.ts';
import { SOURCE_TYPES, type SourceTypes } from '../../sources/registry.ts';
import type { SourceContext } from '../../sources/source.ts';
import { createSampleMap } from '../manifest/create-maps.ts';
import type { SourceAccess } from '../migration-runtime.ts';
import { chooseFiles } from '../plan/build-plan.ts';
import { counted } from '../plan/format-text.ts';
import { guessColumns } from './guess-columns.ts';
import { leaveOutStrangers, readExtension } from './leave-out-strangers.ts';
import { type Look, lookAtFile } from './look-at-export.ts';
import { type ManifestFacts, renderManifest } from './render-manifest.ts';

export interface InitOptions {
  /** A file, folder, glob or `s3://bucket/prefix`; paths start from `cwd`. */
  readonly from: string;
  /** Where the manifest is written. @default `<name>.yaml` in `cwd` */
  readonly out?: string | undefined;
  readonly cwd: string;
  readonly types?: SourceTypes;
}

export interface InitResult {
  readonly path: string;
  readonly type: string;
  readonly files: number;
  /** What was found, in a sentence. */
  readonly seen: string;
  /** Of the records that were read. */
  readonly sample: { readonly records: number; readonly mapped: number; readonly rejected: number };
  /** Why the first of those that are rejected is. */
  readonly example: string | undefined;
  readonly manifest: string;
}

const FILES_LOOKED_AT = 5;
const FILES_NAMED = 5;

/**
 * Looks at an export and writes a manifest for it. Throws ConfigError where that is impossible, with what the data
 * lacks, and where the manifest exists.
 */
export async function initManifest(
  { openSourceBucket }: Pick<SourceAccess, 'openSourceBucket'>,
  { from, out, cwd, types = SOURCE_TYPES }: InitOptions,
): Promise<InitResult> {
  const context: SourceContext = { baseDir: cwd, openS3: openSourceBucket };
  const files = await findSourceFiles([from], context);
  const looked: { readonly name: string; readonly look: Look | undefined }[] = [];
  const faults: string[] = [];
  for (const file of chooseOfAllKinds(files)) {
    try {
      looked.push({ name: file.name, look: await lookAtFile(file, context) });
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      looked.push({ name: file.name, look: undefined });
      faults.push(error.message);
    }
  }
  const looks = looked.flatMap(({ look }) => look ?? []);
  const look = looks.toSorted((a, b) => b.records.length - a.records.length)[0];
  const isAlike = (other: Look | undefined) => other?.delimiter === look?.delimiter;
  const records = looks.filter(isAlike).flatMap((each) => each.records);
  if (!look || records.length === 0) {
    const why = faults[0] ?? look?.why ?? 'it holds no records';
    const hint =
      look?.delimiter !== undefined && look.why !== undefined
        ? '. Where its first line is a record and no header, put a line with the names of the columns in front of it'
        : '';
    throw new ConfigError(`${from} cannot be read as JSON or as a table: ${why}${hint}`);
  }

  const name = toName(from);
  const path = resolve(cwd, out ?? `${name}.yaml`);
  const vendor = look.delimiter === undefined ? findVendor(records, types) : undefined;
  const columns = vendor ? undefined : guessColumns(records, toEventName(name));
  if (typeof columns === 'string') {
    const cell = look.delimiter === undefined ? undefined : findData(records);
    if (cell !== undefined) {
      throw new ConfigError(
        `No manifest can be written for ${from}: its first line holds ${JSON.stringify(cell)}, so it is a record and no header. Put a line with the names of the columns in front of it, divided by ${JSON.stringify(look.delimiter)}`,
      );
    }
    throw new ConfigError(
      `No manifest can be written for ${from}: ${columns}. Its columns are ${listNames(records)}. Start from examples/csv.yaml or examples/jsonl.yaml where one of them does`,
    );
  }
  const type = vendor ?? (look.delimiter === undefined ? 'jsonl' : 'csv');
  const write = (paths: readonly string[], seen: string) => {
    const facts: ManifestFacts = {
      name,
      from: paths.map((each) => toFrom(each, cwd, path)),
      seen,
      type,
      table: columns && { encoding: look.encoding, delimiter: look.delimiter, columns },
    };
    return renderManifest(facts);
  };
  const parsed = parseManifest(write([from], ''), path, { env: {}, needsKey: false, types }).manifest;
  const map = createSampleMap(parsed, types);
  const fits = (other: Look | undefined) =>
    other !== undefined && isAlike(other) && other.records.some((record) => map(record).kind !== 'rejected');
  const isFolder = !from.startsWith('s3://') && (await isDirectory(resolve(cwd, from)));
  const narrowed = isFolder
    ? leaveOutStrangers(
        from,
        looked.map((each) => ({ name: each.name, fits: fits(each.look) })),
        files.map((file) => file.name),
      )
    : undefined;
  const seen = describe(files.length, look, vendor, narrowed?.leftOut ?? []);
  const manifest = write(narrowed?.from ?? [from], seen);
  const outcomes = (narrowed ? looks.filter(fits).flatMap((each) => each.records) : records).map((record) =>
    map(record),
  );
  const rejects = outcomes.filter((outcome) => outcome.kind === 'rejected');
  await writeNew(path, manifest);
  return {
    path,
    type,
    files: files.length - (narrowed?.leftOut.length ?? 0),
    seen,
    sample: {
      records: outcomes.length,
      mapped: outcomes.filter(({ kind }) => kind === 'mapped').length,
      rejected: rejects.length,
    },
    example: rejects[0]?.detail,
    manifest,
  };
}

/** Some of the files, and the largest of each extension: a folder may hold more than the export. */
function chooseOfAllKinds(files: readonly Slice[]): Slice[] {
  const largest = new Map<string, Slice>();
  for (const file of files) {
    const extension = readExtension(file.name);
    if (file.bytes > (largest.get(extension)?.bytes ?? -1)) largest.set(extension, file);
  }
  const some = chooseFiles(files, FILES_LOOKED_AT);
  const others = [...largest.values()].filter((file) => !some.includes(file)).slice(0, FILES_LOOKED_AT);
  return [...some, ...others];
}

const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

/** A name of a column that is no name: a time, an e-mail address, a UUID. */
const findData = ([first = {}]: readonly Readonly<Record<string, unknown>>[]): string | undefined =>
  Object.keys(first).find((name) => DATA.test(name.trim()));
const DATA =
  /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|^[^\s@]+@[^\s@]+\.\w+$|^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The vendor that knows most of the records as its own. */
function findVendor(
  records: readonly Readonly<Record<string, unknown>>[],
  types: SourceTypes,
): string | undefined {
  const [best] = types
    .map(({ type, recognize }) => ({
      type,
      known: recognize ? records.filter((record) => recognize(record)).length : 0,
    }))
    .filter(({ known }) => known > records.length / 2)
    .toSorted((a, b) => b.known - a.known);
  return best?.type;
}

function describe(
  files: number,
  { compression, encoding, delimiter }: Look,
  vendor: string | undefined,
  leftOut: readonly string[],
): string {
  const packed = compression === 'none' ? '' : `${compression} of `;
  const form =
    delimiter === undefined
      ? 'JSON'
      : `a table divided by ${delimiter === '\t' ? 'tab' : JSON.stringify(delimiter)}`;
  const of = vendor === undefined ? form : `an export of ${vendor}`;
  const named = leftOut.slice(0, FILES_NAMED).map((name) => JSON.stringify(name));
  const more = leftOut.length > named.length ? ` and ${leftOut.length - named.length} more` : '';
  const rest = leftOut.length > 0 ? ` Left out, as no part of it: ${named.join(', ')}${more}.` : '';
  return `${counted(files - leftOut.length, 'file')}: ${packed}${of}, ${encoding}.${rest}`;
}

const NAME_MAX = 50;

function toName(from: string): string {
  const last = basename(from.replace(/[/*]+$/, ''))
    .replace(/\.(gz|zip)$/i, '')
    .replace(/\.[a-z0-9]{1,7}$/i, '');
  const name = last
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, NAME_MAX);
  return name === '' ? 'history' : name;
}

const toEventName = (name: string): string => name.replace(/[-_]+/g, ' ').trim();

/** As the manifest has to say it, whose paths start from its own folder. */
const toFrom = (from: string, cwd: string, manifest: string): string =>
  from.startsWith('s3://') ? from : relative(dirname(manifest), resolve(cwd, from)) || '.';

const listNames = (records: readonly Readonly<Record<string, unknown>>[]): string =>
  [...new Set(records.flatMap((record) => Object.keys(record)))]
    .slice(0, 12)
    .map((name) => JSON.stringify(name.slice(0, 40)))
    .join(', ');

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new ConfigError(`${path} exists, and is not replaced; name another file with --out`, error);
    throw new ConfigError(`${path} cannot be written: ${(error as Error).message}`, error);
  }
}
