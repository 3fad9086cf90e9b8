import type { Staging } from '../../contract/staging.ts';
import type { FoldedRecord } from '../../pipeline/repeats/decide-repeats.ts';
import { RepeatFold } from '../../pipeline/repeats/fold-repeats.ts';
import { planRepeatRanges } from '../../pipeline/repeats/plan-repeats.ts';
import { OTHER_EVENTS } from '../../pipeline/tally.ts';
import {
  FINGERPRINT_WORDS,
  type FingerprintRange,
  type FingerprintRows,
  getKind,
  getRecord,
  OF_ONE,
  readFingerprints,
} from '../../state/fingerprints.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listSentParts, type SentPart } from '../run/other-senders.ts';

/** A migration or a replay whose fingerprints are in staging. */
export interface Sender {
  readonly record: MigrationRecord;
  /** Whether its report counts repeats among its own parts. */
  readonly isCounted: boolean;
}

/** What several migrations have all sent, beyond what each counts by itself. */
export interface SharedEvents {
  /** Events that are there once, and that the reports count more than once. */
  readonly events: number;
  /** Records, by UTC day and by event name; of records that are one event. */
  readonly byDay: ReadonlyMap<string, number>;
  readonly byEvent: ReadonlyMap<string, number>;
}

interface Source extends Pick<SentPart, 'index' | 'names' | 'isRejected'> {
  readonly sender: number;
}

/**
 * Counts what the first of several senders and the others have sent under the same uuids, for example because a record
 * that it rejected came once more in a top-up and in a replay. Reads what the first has of the days of the others, some
 * 20 MB at a time. Throws SourceError.
 *
 * @param foldRows Fingerprints compared at once.
 */
export async function countSharedEvents(
  staging: Staging,
  senders: readonly Sender[],
  foldRows?: number,
): Promise<SharedEvents> {
  const sources: Source[] = [];
  const sum: Sum = { events: 0, byDay: new Map(), byEvent: new Map() };
  for (const [sender, { record, isCounted }] of senders.entries()) {
    const { parts, elsewhere } = await listSentParts(staging, record);
    for (const { index, names, isRejected } of parts) sources.push({ sender, index, names, isRejected });
    // Its report leaves them to whoever else has the row, and here each row is counted.
    if (isCounted) sum.events -= elsewhere;
  }
  const days = new Set(
    sources.flatMap(({ sender, index }) => (sender === 0 ? [] : index.sections.map(({ day }) => day))),
  );
  const ranges = planRepeatRanges(
    sources.map(({ index }) => index),
    foldRows === undefined ? {} : { foldRows },
  )
    .flat()
    .filter(({ fromDay, toDay }) => [...days].some((day) => day >= fromDay && day <= toDay));
  for (const range of ranges) {
    await addRepeats(staging, sources, range, 1, sum);
    for (const [sender, { isCounted }] of senders.entries())
      if (isCounted)
        await addRepeats(
          staging,
          sources.filter((source) => source.sender === sender),
          range,
          -1,
          sum,
        );
  }
  return sum;
}

interface Sum {
  events: number;
  readonly byDay: Map<string, number>;
  readonly byEvent: Map<string, number>;
}

async function addRepeats(
  staging: Staging,
  sources: readonly Source[],
  range: FingerprintRange,
  sign: 1 | -1,
  sum: Sum,
): Promise<void> {
  const found: { readonly source: Source; readonly rows: FingerprintRows }[] = [];
  for (const source of sources) {
    const rows = await readFingerprints(staging, source.index, range);
    if (rows) found.push({ source, rows });
  }
  const ignore = () => {};
  const events = new RepeatFold();
  for (const [number, { rows }] of found.entries()) events.add(number, rows);
  await events.fold({
    ...{ onDuplicate: ignore, onCollision: ignore, onStays: ignore },
    onEvents: ({ repeated, colliding }) => {
      sum.events += sign * (repeated + colliding);
    },
  });
  events.close();
  // Of one key each sender counts one record, unless another one has the row.
  const records = new RepeatFold();
  const pick = createPick(found);
  for (const [number, { source, rows }] of found.entries()) records.add(number, pick(source, rows));
  const addRecord = ({ source, day, name }: FoldedRecord) => {
    add(sum.byDay, day, sign);
    add(sum.byEvent, found[source]?.source.names[name] ?? OTHER_EVENTS, sign);
  };
  await records.fold({
    ...{ onDuplicate: addRecord, onCollision: addRecord, onStays: ignore, onEvents: ignore },
  });
  records.close();
}

/** Picks rows of records that are one event and that their sender does not reject, nor an equal one. */
function createPick(
  found: readonly { readonly source: Source; readonly rows: FingerprintRows }[],
): (of: Source, rows: FingerprintRows) => FingerprintRows {
  const rejected = new Set<string>();
  /** First words of these: a text is made of few rows. */
  const first = new Set<number>();
  const toText = ({ sender }: Source, words: Int32Array, at: number) =>
    `${sender} ${words.subarray(at, at + FINGERPRINT_WORDS - 1).join()}`;
  for (const { source, rows } of found)
    for (let at = 0; at < rows.words.length; at += FINGERPRINT_WORDS) {
      const word = rows.words[at + FINGERPRINT_WORDS - 1] as number;
      if (getKind(word) !== OF_ONE || !source.isRejected(getRecord(word), undefined)) continue;
      rejected.add(toText(source, rows.words, at));
      first.add(rows.words[at] as number);
    }
  return (of, { words, runs }) => {
    const isRejected = (at: number) => first.has(words[at] as number) && rejected.has(toText(of, words, at));
    const picked = new Int32Array(words.length);
    let kept = 0;
    let at = 0;
    const days = runs.map(({ day, rows }) => {
      const before = kept;
      for (const end = at + rows * FINGERPRINT_WORDS; at < end; at += FINGERPRINT_WORDS) {
        if (getKind(words[at + FINGERPRINT_WORDS - 1] as number) !== OF_ONE || isRejected(at)) continue;
        picked.set(words.subarray(at, at + FINGERPRINT_WORDS), kept * FINGERPRINT_WORDS);
        kept += 1;
      }
      return { day, rows: kept - before };
    });
    return { words: picked.subarray(0, kept * FINGERPRINT_WORDS), runs: days };
  };
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
