import type { FilePiece, PartDescription } from '../../contract/part.ts';
import type { FingerprintIndex, RejectSegment } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { loadPart, loadPartDescription } from '../../state/parts.ts';
import { saveRejects } from '../../state/rejects/rejects.ts';
import type { OtherPart } from './other-senders.ts';

const COLLISION_DETAIL =
  'another record has the same uuid, event name, distinct_id and day, and other content; that one counts as delivered, and a replay sends all of them under uuids of their own';

/** A part that has fingerprints. */
export interface FoldSource {
  readonly part: string;
  /** Of the parts of its migration. */
  readonly prefix: string;
  readonly file: string;
  /** Of a part of several files: loaded with its first rows. */
  pieces: readonly Pick<FilePiece, 'file' | 'records'>[] | undefined;
  readonly hasPieces: boolean;
  readonly index: FingerprintIndex;
  /** Names of its tally, by which its rows name events. */
  readonly names: readonly string[];
}

/** Of another migration of the family. */
export type OtherSource = FoldSource & Pick<OtherPart, 'isRejected'>;

/** What one fold reads, and where its rejects go. */
export interface FoldDeps {
  readonly staging: Staging;
  readonly sources: readonly FoldSource[];
  /** Numbered behind the sources. */
  readonly others: readonly OtherSource[];
  readonly toRejectsKey: (part: string) => string;
  readonly signal: AbortSignal;
}

/** A record that is kept as a reject, or because it stays where others collide with it. */
export type Kept = 'rejected' | 'stays';

/** Of a record that does both, that it is rejected. */
export function keep(records: Map<number, Kept>, record: number, as: Kept): void {
  if (records.get(record) !== 'rejected') records.set(record, as);
}

/** Keeps records of one part. `accepted`: keys of events that a replay leaves out, by record. */
export async function saveKept(
  staging: Staging,
  of: FoldSource,
  key: string,
  kept: ReadonlyMap<number, Kept>,
  accepted: ReadonlyMap<number, readonly string[]> = new Map(),
): Promise<RejectSegment> {
  const part = await requirePart(staging, of);
  const records = await loadPart(staging, of.prefix, part);
  const notes = [...kept]
    .toSorted(([a], [b]) => a - b)
    .map(([record, as]) => ({
      record,
      reason: 'same_id_other_content' as const,
      detail: COLLISION_DETAIL,
      ...(as === 'stays' ? { stays: true as const } : {}),
      ...(accepted.has(record) ? { accepted: accepted.get(record) ?? [] } : {}),
    }));
  return saveRejects(staging, key, { part, header: records.header, records, notes });
}

export async function requirePart(
  staging: Staging,
  { prefix, part: id }: Pick<FoldSource, 'prefix' | 'part'>,
): Promise<PartDescription> {
  const part = await loadPartDescription(staging, prefix, id);
  if (part) return part;
  throw new SourceError(`${staging.location}: the description of part ${id} is gone`);
}

/** The name of the file that a record of a part is from. */
export function findFile({ file, pieces }: FoldSource, record: number): string {
  let end = 0;
  for (const piece of pieces ?? []) {
    end += piece.records;
    if (record < end) return piece.file;
  }
  return file;
}
