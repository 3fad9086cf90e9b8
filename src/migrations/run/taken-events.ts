import type { Staging } from '../../contract/staging.ts';
import type { PartKeys, TakenEvents } from '../../pipeline/taken-events.ts';
import {
  FINGERPRINT_WORDS,
  getKind,
  getRecord,
  OF_EVENT,
  OF_WHOLE,
  readFingerprints,
  toContent,
  toEventKey,
} from '../../state/fingerprints.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listGoneParts, type SentRows } from './other-senders.ts';

/**
 * Finds what removed members of the family of a migration have delivered under the keys of a part; undefined where
 * nothing was removed.
 */
export async function createFindTaken(
  staging: Staging,
  record: MigrationRecord,
): Promise<((part: PartKeys) => Promise<TakenEvents>) | undefined> {
  const gone = await listGoneParts(staging, record);
  return gone.length === 0 ? undefined : (part) => findTaken(staging, gone, part);
}

/** By content, those who sent it, and whether they rejected it later: a sender rejects a content as a whole. */
type Senders = Map<string, Map<string, boolean>>;

/** What some parts have delivered under some keys. Reads a day of a part at a time, and keeps what has a wanted key. */
export async function findTaken(
  staging: Staging,
  parts: readonly SentRows[],
  { keys, days }: PartKeys,
): Promise<TakenEvents> {
  const found = new Map<string, Senders>();
  for (const { index, migration, isRejected } of parts)
    for (const { day } of index.sections) {
      if (!days.has(day)) continue;
      const rows = await readFingerprints(staging, index, {
        fromDay: day,
        toDay: day,
      });
      for (let at = 0; rows && at < rows.words.length; at += FINGERPRINT_WORDS) {
        const word = rows.words[at + FINGERPRINT_WORDS - 1] as number;
        const kind = getKind(word);
        if (kind === OF_WHOLE) continue;
        const key = toEventKey(rows.words, at);
        if (!keys.has(key)) continue;
        const contents: Senders = found.get(key) ?? new Map();
        found.set(key, contents);
        const content = toContent(rows.words, at);
        const senders = contents.get(content) ?? new Map<string, boolean>();
        contents.set(content, senders);
        const isOut = isRejected(getRecord(word), kind === OF_EVENT ? key : undefined);
        senders.set(migration.id, senders.get(migration.id) === true || isOut);
      }
    }
  const taken = new Map<string, ReadonlySet<string>>();
  for (const [key, contents] of found) {
    const delivered = [...contents].flatMap(([content, senders]) =>
      [...senders.values()].includes(false) ? [content] : [],
    );
    if (delivered.length > 0) taken.set(key, new Set(delivered));
  }
  return taken;
}
