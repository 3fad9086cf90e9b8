import type { FilePiece, PartDescription } from '../../contract/part.ts';
import type { FingerprintIndex, RejectLine, RejectSegment } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { layout, parseMigrationName } from '../../state/keys/migration.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { loadPart, loadPartDescription } from '../../state/parts.ts';
import { readRejects, saveRejectLines, saveRejects } from '../../state/rejects/rejects.ts';
import { loadSentBefore } from '../../state/rejects/sent-before.ts';
import type { SentPart } from './other-senders.ts';

const COLLISION_DETAIL =
  'another record has the same uuid, event name, distinct_id and day, and other content; that one counts as delivered, and a replay sends all of them under uuids of their own';
/** The other content may be that of the very record, as another map made it. */
const COLLISION_ELSEWHERE =
  'the migration or another replay of it has sent an event with the same uuid, event name, distinct_id and day, and other content: of another record, or of this one with another map; that one counts as delivered, and a replay of this migration sends this one under a uuid of its own';

/** A part that has fingerprints. */
export interface FoldSource {
  readonly part: string;
  readonly migration: MigrationRecord;
  /** Of the parts of its migration. */
  readonly prefix: string;
  readonly file: string;
  /** Of a part of several files: loaded with its first rows. */
  pieces: readonly Pick<FilePiece, 'file' | 'records'>[] | undefined;
  readonly hasPieces: boolean;
  readonly index: FingerprintIndex;
  /** Its records are gone. */
  readonly isGone: boolean;
  /** Names of its tally, by which its rows name events. */
  readonly names: readonly string[];
}

/** Of another migration of the family. */
export type OtherSource = FoldSource & Pick<SentPart, 'isRejected' | 'isGone'>;

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
export interface Kept {
  readonly as: 'rejected' | 'stays';
  /** Another migration of the family has sent what it collides with. */
  readonly isElsewhere?: boolean;
  /** Of a record of several events: keys of those that a replay sends under uuids of their own. */
  readonly sends?: readonly string[];
  /** Of these, those that stay. */
  readonly staying?: readonly string[];
  /** Keys of its events that were accepted and that a replay leaves out. */
  readonly accepted?: readonly string[];
}

/**
 * Keeps records of one part. What was accepted before a replay was made is left out by the next one as well. Undefined
 * where none is left, because its migration was removed.
 */
export async function saveKept(
  staging: Staging,
  of: FoldSource,
  key: string,
  kept: ReadonlyMap<number, Kept>,
): Promise<RejectSegment | undefined> {
  if (of.isGone) return saveKeptBefore(staging, of.part, key, kept);
  const { name, replays } = of.migration;
  const part = await requirePart(staging, of);
  const records = await loadPart(staging, of.prefix, part);
  const before = replays === undefined ? undefined : await loadSentBefore(staging, name, of.part);
  const notes = [...kept]
    .toSorted(([a], [b]) => a - b)
    .map(([record, { as, isElsewhere, sends, staying, accepted = [] }]) => {
      const sent = before?.get(record);
      const left = [...new Set([...(sent?.accepted ?? []), ...accepted])];
      const toSend = sends ?? (sent?.sends && [...sent.sends]);
      const stays = staying ?? (as === 'stays' ? toSend : undefined);
      return {
        record,
        reason: 'same_id_other_content' as const,
        detail: isElsewhere ? COLLISION_ELSEWHERE : COLLISION_DETAIL,
        ...(as === 'stays' ? { stays: true as const } : {}),
        ...(left.length > 0 ? { accepted: left } : {}),
        ...(toSend ? { sends: toSend } : {}),
        ...(stays && stays.length > 0 ? { staying: [...stays] } : {}),
      };
    });
  return saveRejects(staging, key, { part, header: records.header, records, notes });
}

/** What an earlier fold has kept of records that are gone. */
async function saveKeptBefore(
  staging: Staging,
  part: string,
  key: string,
  kept: ReadonlyMap<number, Kept>,
): Promise<RejectSegment | undefined> {
  const lines = new Map<number, RejectLine>();
  const keys: string[] = [];
  for await (const segment of staging.list(layout(parseMigrationName(key)).rejectsOf(part)))
    keys.push(segment.key);
  for (const segment of keys)
    for (const line of await readRejects(staging, { key: segment })) {
      const known = kept.get(line.record);
      if (!known) continue;
      const before = lines.get(line.record);
      const add = (...all: (readonly string[] | undefined)[]) => [
        ...new Set(all.flatMap((each) => each ?? [])),
      ];
      const several = known.sends && {
        sends: add(before?.sends, line.sends, known.sends),
        staying: add(before?.staying, line.staying, known.staying),
      };
      lines.set(line.record, { ...line, ...several });
    }
  if (lines.size === 0) return undefined;
  const inOrder = [...lines].toSorted(([a], [b]) => a - b).map(([, line]) => line);
  return saveRejectLines(staging, key, inOrder);
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
