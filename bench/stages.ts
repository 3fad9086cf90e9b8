import { createHash } from 'node:crypto';
import type { Delivery } from '../src/contract/delivery.ts';
import type { IdentityFact } from '../src/contract/identity-fact.ts';
import type { PartRecord } from '../src/contract/part.ts';
import type { Checkpoint } from '../src/contract/progress.ts';
import { BatchBuilder } from '../src/deliver/batch-builder.ts';
import { compress } from '../src/deliver/send.ts';
import { FactFold } from '../src/identity/fact-fold.ts';
import { gunzip, gzip } from '../src/lib/gzip.ts';
import { stringifyJson } from '../src/lib/json/stringify-json.ts';
import { TextBuffer } from '../src/lib/text-buffer.ts';
import { advance } from '../src/pipeline/advance.ts';
import { EventWriter } from '../src/pipeline/event-writer.ts';
import { Fingerprints } from '../src/pipeline/fingerprints.ts';
import { mapToBatches, type SegmentBatch } from '../src/pipeline/map-to-batches.ts';
import { Outcomes } from '../src/pipeline/outcomes.ts';
import { type CutPart, PartCutter } from '../src/pipeline/stage/cut-parts.ts';
import { emptyTally } from '../src/pipeline/tally.ts';
import {
  createBytesParser,
  createRecordParser,
  type ParsedObject,
} from '../src/sources/formats/parse-record.ts';
import { readRecords } from '../src/sources/formats/read-records.ts';
import { BucketLines } from '../src/state/facts/bucket-lines.ts';
import { decodeFrames } from '../src/state/part-records.ts';
import { openSource } from './sample-input.ts';
import { createBenchMap } from './source-maps.ts';
import type { SourceRecords } from './source-records.ts';

/** One step of the path, to be run repeatedly over the same records. */
export interface Stage {
  readonly source: string;
  readonly name: string;
  readonly records: number;
  readonly run: () => unknown;
}

/** As parts are written. */
const PART_GZIP = { level: 2, chunkSize: 1024 * 1024 };

/** The stage that the other stages of a source are compared with. */
export const REFERENCE = 'JSON.parse alone';

/** The stages that depend on the source: reading its records and mapping them. */
export function createSourceStages({ type, format, header, records, texts }: SourceRecords): Stage[] {
  const parse = createRecordParser(format, header);
  const map = createBenchMap(type);
  const parsed = parseAll(records, parse);
  const stage = (name: string, run: () => unknown): Stage => ({
    source: type,
    name,
    records: records.length,
    run,
  });
  return [
    stage(REFERENCE, () => {
      for (const text of texts) JSON.parse(text);
    }),
    stage('parse', () => {
      for (const record of records) parse(record);
    }),
    stage('map', () => {
      for (const { value } of parsed) map(value);
    }),
  ];
}

/** The stages other than parse and map. They are the same for all sources and measured on Amplitude's records. */
export async function createSharedStages(path: string, amplitude: SourceRecords): Promise<Stage[]> {
  const { type, format, header, records } = amplitude;
  const parse = createRecordParser(format, header);
  const map = createBenchMap(type);
  const outcomes = parseAll(records, parse).map(({ value }) => map(value));
  const facts = outcomes.flatMap((outcome) => (outcome.kind === 'rejected' ? [] : outcome.facts));
  const events = outcomes.flatMap((outcome) => (outcome.kind === 'mapped' ? outcome.events : []));
  const texts = events.map((event) => stringifyJson(event));
  const parts = cutParts(amplitude);
  const mapped = await Promise.all(parts.map((part) => mapPart(part, amplitude, map)));
  const packed = await Promise.all(parts.map(({ frames }) => gzip(frames, PART_GZIP)));
  const stage = (name: string, run: () => unknown): Stage => ({
    source: type,
    name,
    records: records.length,
    run,
  });
  return [
    stage('gunzip and split', async () => {
      for await (const _chunk of readRecords(await openSource(path), {}));
    }),
    stage('frames: write', () => cutParts(amplitude)),
    stage('part: sha256', () => parts.map(({ frames }) => createHash('sha256').update(frames).digest())),
    stage('part: gzip', () => Promise.all(parts.map(({ frames }) => gzip(frames, PART_GZIP)))),
    stage('part: gunzip', () => Promise.all(packed.map((body) => gunzip(body, PART_GZIP)))),
    stage('frames: read', () => parts.map(({ frames }) => decodeFrames(frames))),
    stage('serialise', () => {
      for (const event of events) stringifyJson(event);
    }),
    stage('batch', () => packAll(texts)),
    stage('gzip bodies', async () => {
      for (const { segments } of mapped) {
        for (const { batch } of segments) if (batch) await compress([batch.body]);
      }
    }),
    stage('advance', () => mapped.forEach(advanceAll)),
    stage('write and hash', () => {
      const written = new EventWriter(new TextBuffer(1024));
      for (const event of events) written.write([event], () => true);
    }),
    stage('identity facts: fold', () => foldAll(facts)),
    stage('identity facts: fold, write', () => foldAll(facts).writeLines(new BucketLines())),
  ];
}

function parseAll(
  records: readonly PartRecord[],
  parse: ReturnType<typeof createRecordParser>,
): ParsedObject[] {
  return records.map(parse).filter((parsed) => parsed.kind === 'object');
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function cutParts(chunk: SourceRecords): CutPart[] {
  const cutter = new PartCutter();
  return [...cutter.add(chunk), ...cutter.end()];
}

interface MappedPart {
  readonly segments: readonly SegmentBatch[];
  readonly outcomes: Outcomes;
}

async function mapPart(
  { frames }: CutPart,
  { format, header }: SourceRecords,
  map: ReturnType<typeof createBenchMap>,
): Promise<MappedPart> {
  const records = decodeFrames(frames);
  const outcomes = new Outcomes(records.count);
  const segments = await collect(
    mapToBatches(records, 0, {
      parse: createBytesParser(format, header),
      map,
      batches: new BatchBuilder(),
      outcomes,
      facts: new FactFold(),
      fingerprints: new Fingerprints(records.count),
    }),
  );
  return { segments, outcomes };
}

function packAll(texts: readonly string[]): void {
  const batches = new BatchBuilder();
  for (const text of texts) {
    if (batches.add(text) === 'added') continue;
    batches.take();
    batches.add(text);
  }
}

const ACCEPTED: Delivery = { kind: 'accepted' };

const NOTHING_REJECTED = new Map<never, never>();

function advanceAll({ segments, outcomes }: MappedPart): void {
  let checkpoint: Checkpoint = { part: 'bench', position: 0, tally: emptyTally(), rejectSegments: [] };
  for (const { segment, batch } of segments) {
    const deliveries = new Array<Delivery>(batch ? batch.offsets.length - 1 : 0).fill(ACCEPTED);
    checkpoint = advance(checkpoint, segment, outcomes, deliveries, NOTHING_REJECTED).checkpoint;
    JSON.stringify(checkpoint);
  }
}

function foldAll(facts: readonly IdentityFact[]): FactFold {
  const fold = new FactFold();
  for (const fact of facts) fold.add(fact);
  return fold;
}
