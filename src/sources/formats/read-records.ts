import type { PartRecord, RecordFormat } from '../../contract/part.ts';
import { SourceError } from '../../lib/errors.ts';
import type { SourceFile } from '../files/source-file.ts';
import { decodeText } from './decode-text.ts';
import { gunzip, TrailingGarbageError } from './gunzip.ts';
import { classifyMagic, MAGIC_BYTES } from './magic.ts';
import { peek } from './peek.ts';
import { type ReadOptions, SNIFF_BYTES, sniffFormat, type TextForm } from './sniff-format.ts';
import { CsvSplitter, StrayQuoteError } from './split-csv.ts';
import { LineSplitter } from './split-lines.ts';
import { ValueSplitter } from './split-values.ts';
import type { Splitter } from './splitter.ts';
import { freeMemory, getFilled } from './text-memory.ts';
import { zipMembers } from './unzip.ts';

export type { ReadOptions } from './sniff-format.ts';

/** Consecutive records under the same header. */
export interface RecordChunk {
  readonly format: RecordFormat;
  readonly header: Uint8Array | undefined;
  readonly records: readonly PartRecord[];
  /**
   * How many of the source's bytes, as stored, hold these records and all before them; what was only read
   * ahead is left out. Inside a packed piece, in proportion to its text.
   */
  readonly sourceBytes?: number;
  /**
   * Gives back memory at once, for whoever has copied what it needs: of this chunk's records, and of those before it,
   * nothing may be read any more. Without it, V8 finds out by itself.
   */
  readonly free?: () => void;
}

/** How many bytes of its input a reader has passed on as text, without those that it has read ahead. */
interface Meter {
  bytes: number;
}

/** A chunk is yielded once it holds this much text, so that nothing awaits per record. */
const CHUNK_BYTES = 512 * 1024;
/** Of stray quotes in one text that it is read again for, each to find the rows that the quote hid. */
const MOST_STRAY_QUOTES = 4;
/** Gzip in gzip happens (a `.gz` uploaded with compression); three times is a mistake. */
const GZIP_LEVELS = 2;

/**
 * In: one source file, packed or not, whatever its extension. Out: its records in order, each with its
 * original bytes, in flat memory. A record that makes no sense is still a record; a file that does
 * not (cut off, encrypted, an archive in an archive) yields what comes before the fault and then
 * throws a SourceError. `onBytes` sees the source's own bytes as they are read.
 */
export async function* readRecords(
  file: SourceFile,
  options: ReadOptions,
  onBytes: (bytes: Buffer) => void = () => {},
): AsyncGenerator<RecordChunk> {
  // A small file is opened once: of many, opening is what takes time, and what S3 charges for.
  const isSmall = file.bytes <= CHUNK_BYTES;
  const range = isSmall ? undefined : { start: 0, end: MAGIC_BYTES };
  const { head, bytes, close } = await peek(file.open(range), MAGIC_BYTES);
  const isZip = classifyMagic(head).kind === 'zip';
  if (isZip || !isSmall) await close();
  if (isZip) {
    let before = 0;
    const seen = createOnce(onBytes);
    for await (const { name, open, bytes: size, unpackedBytes } of zipMembers(file, seen.see)) {
      const toSourceBytes = (taken: number) => before + (size * taken) / Math.max(1, unpackedBytes);
      const where = `${file.name}, member ${name}`;
      seen.begin();
      yield* readThrough(open, seen.again, { member: name, where, options, toSourceBytes });
      before += size;
    }
  } else {
    let first: AsyncIterable<Buffer> | undefined = isSmall ? bytes : undefined;
    const seen = createOnce(onBytes);
    const open = () => {
      const all = first ?? file.open();
      first = undefined;
      return tap(all, seen.see);
    };
    const toSourceBytes = (taken: number) => taken;
    yield* readThrough(open, seen.again, { member: undefined, where: file.name, options, toSourceBytes });
  }
}

/** Passes bytes on once, also where a text is read again from its beginning. */
function createOnce(onBytes: (bytes: Buffer) => void) {
  let [at, passed] = [0, 0];
  return {
    begin() {
      at = 0;
      passed = 0;
    },
    again() {
      at = 0;
    },
    see(bytes: Buffer) {
      const known = Math.max(0, passed - at);
      at += bytes.length;
      if (known >= bytes.length) return;
      passed = at;
      onBytes(known === 0 ? bytes : bytes.subarray(known));
    },
  };
}

interface TextAt {
  readonly member: string | undefined;
  readonly where: string;
  readonly options: ReadOptions;
  readonly toSourceBytes: (taken: number) => number;
}

/** Reads a text again where a stray quote hid rows, without the records that it gave before. */
async function* readThrough(
  open: () => AsyncIterable<Buffer>,
  onAgain: () => void,
  at: TextAt,
): AsyncGenerator<RecordChunk> {
  const strayQuotes = new Set<number>();
  let given = 0;
  for (;;) {
    let count = 0;
    try {
      for await (const chunk of readText(open(), at, strayQuotes)) {
        const known = Math.max(0, given - count);
        count += chunk.records.length;
        if (known >= chunk.records.length) continue;
        given = count;
        yield known === 0 ? chunk : { ...chunk, records: chunk.records.slice(known) };
      }
      return;
    } catch (error) {
      if (!(error instanceof StrayQuoteError) || strayQuotes.size === MOST_STRAY_QUOTES) throw error;
      strayQuotes.add(error.line);
      onAgain();
    }
  }
}

async function* readText(
  packed: AsyncIterable<Buffer>,
  { member, where, options, toSourceBytes }: TextAt,
  strayQuotes: ReadonlySet<number>,
): AsyncGenerator<RecordChunk> {
  const meter: Meter = { bytes: 0 };
  const text = decodeText(unpack(packed, where, meter), options.encoding);
  let splitter: Splitter | undefined;
  let format: RecordFormat = { kind: 'json' };
  let records: PartRecord[] = [];
  let pendingBytes = 0;
  let memory: ArrayBuffer[] = [];
  let failure: { readonly error: unknown } | undefined;
  const take = (): RecordChunk => {
    const sourceBytes = Math.round(toSourceBytes(meter.bytes));
    const free = freeMemory.bind(undefined, memory);
    const chunk = { format, header: splitter?.header, records, sourceBytes, free };
    records = [];
    pendingBytes = 0;
    memory = [];
    return chunk;
  };

  try {
    const { head, bytes } = await peek(text, SNIFF_BYTES);
    const form = sniffFormat(head, options);
    if (form.kind === 'csv') format = { kind: 'csv', delimiter: form.delimiter };
    splitter = createSplitter(form, member, where, options, strayQuotes);
    for await (const chunk of bytes) {
      splitter.push(chunk, records);
      const ended = form.kind === 'csv' ? undefined : getFilled(chunk); // rows that are cut off refer to it
      // Text without a record may go on for ever, and its memory is left to V8.
      if (records.length === 0) memory = [];
      else if (ended !== undefined) memory.push(ended);
      pendingBytes += chunk.length;
      if (pendingBytes >= CHUNK_BYTES && records.length > 0) yield take();
    }
    splitter.end(records);
  } catch (error) {
    failure = { error };
    if (error instanceof TrailingGarbageError) endText(splitter, records);
  }
  if (records.length > 0) yield take();
  if (failure) throw failure.error;
}

/** The text before the garbage is whole, and so is its last record; the error names the garbage. */
function endText(splitter: Splitter | undefined, records: PartRecord[]): void {
  try {
    splitter?.end(records);
  } catch {}
}

function createSplitter(
  form: TextForm,
  member: string | undefined,
  where: string,
  { checkColumns }: ReadOptions,
  strayQuotes: ReadonlySet<number>,
): Splitter {
  if (form.kind === 'csv') return new CsvSplitter(form.delimiter, member, where, checkColumns, strayQuotes);
  if (form.kind === 'lines') return new LineSplitter(member);
  return new ValueSplitter(form.kind, member, where);
}

async function* unpack(
  source: AsyncIterable<Buffer>,
  where: string,
  meter: Meter,
  level = 0,
): AsyncGenerator<Buffer> {
  const { head, bytes, close } = await peek(source, MAGIC_BYTES);
  const magic = classifyMagic(head);
  const take = (taken: number) => {
    if (level === 0) meter.bytes += taken;
  };
  if (magic.kind === 'plain') {
    yield* tap(bytes, (chunk) => take(chunk.length));
  } else if (magic.kind === 'gzip' && level < GZIP_LEVELS) {
    yield* unpack(gunzip(bytes, where, take), where, meter, level + 1);
  } else {
    await close();
    throw new SourceError(
      magic.kind === 'gzip'
        ? `${where} is packed as gzip more than ${GZIP_LEVELS} times; unpack it first`
        : magic.kind === 'zip'
          ? `${where} is a zip inside another archive; unpack the outer one, and name what it holds`
          : `${where} is ${magic.what}, which is not read; ${magic.advice}`,
    );
  }
}

async function* tap(source: AsyncIterable<Buffer>, onBytes: (bytes: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    onBytes(chunk);
    yield chunk;
  }
}
