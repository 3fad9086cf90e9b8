import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { BatchBuilder } from '../../deliver/batch-builder.ts';
import type { Stamp } from '../../deliver/stamp.ts';
import { EventWriter } from '../../pipeline/event-writer.ts';
import { Fingerprints } from '../../pipeline/fingerprints.ts';
import { RepeatFold } from '../../pipeline/fold-repeats.ts';
import { Labels } from '../../pipeline/labels.ts';
import { sharesId, toBytes } from '../../pipeline/stage/stage-rejects.ts';
import { createRecordParser } from '../../sources/formats/parse-record.ts';
import type { ImportMap } from '../../sources/source.ts';
import { FINGERPRINT_WORDS, type FingerprintRows, readFingerprints } from '../../state/fingerprints.ts';
import type { SentPart } from '../run/other-senders.ts';

export interface SetApartDeps {
  readonly staging: Staging;
  /** What was sent of which no record is left. */
  readonly gone: readonly SentPart[];
  /** Of the replay, under the vendor's ids. */
  readonly map: ImportMap;
  readonly stamp: Stamp | undefined;
}

/** Rejects that are looked at together: as many as a part may hold. */
const MOST_LINES = 20_000;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Marks the rejects that would be sent under the id of an event whose record is gone, with other content: they go under
 * ids of their own at once. Sent under that id they might take the place of the event, which nobody could send again.
 */
export async function* setApart(
  lines: AsyncIterable<RejectLine>,
  deps: SetApartDeps,
): AsyncGenerator<RejectLine> {
  let some: RejectLine[] = [];
  let bytes = 0;
  for await (const line of lines) {
    some.push(line);
    bytes += toBytes(line).length;
    if (some.length < MOST_LINES && bytes < MOST_BYTES) continue;
    yield* await markColliding(some, deps);
    some = [];
    bytes = 0;
  }
  yield* await markColliding(some, deps);
}

async function markColliding(lines: readonly RejectLine[], deps: SetApartDeps): Promise<RejectLine[]> {
  const { own, firstOf } = fingerprint(lines, deps);
  const days = own.runs.map(({ day }) => day);
  const [fromDay, toDay] = [days[0], days.at(-1)];
  const colliding = new Set<number>();
  if (fromDay !== undefined && toDay !== undefined) {
    const fold = new RepeatFold();
    fold.add(0, own);
    for (const [number, { index, migration, isRejected }] of deps.gone.entries()) {
      const rows = await readFingerprints(deps.staging, index, { fromDay, toDay });
      if (rows) await fold.addOthers(number + 1, rows, migration.id, isRejected);
    }
    await fold.fold({
      onCollision: ({ record }, isElsewhere) => {
        if (isElsewhere) colliding.add(record);
      },
      onDuplicate: () => {},
      onStays: () => {},
      onEvents: () => {},
    });
  }
  return lines.map((line, at) =>
    colliding.has(firstOf.get(at) ?? at) ? { ...line, idFrom: 'record' } : line,
  );
}

interface Fingerprinted {
  readonly own: FingerprintRows;
  /** Of those that repeat another one, which has their row. */
  readonly firstOf: ReadonlyMap<number, number>;
}

/** Of what the records would send; those that go under ids of their own anyway are left out. */
function fingerprint(lines: readonly RejectLine[], { map, stamp }: SetApartDeps): Fingerprinted {
  const batches = new BatchBuilder();
  const writer = new EventWriter(batches.text, stamp);
  const fingerprints = new Fingerprints(lines.length);
  const labels = new Labels();
  const firstOf = new Map<number, number>();
  for (const [at, line] of lines.entries()) {
    if (sharesId(line)) continue;
    const parse = createRecordParser(line.format, line.header && toBytes(line.header));
    const parsed = parse({ kind: 'record', member: line.member, line: line.line, bytes: toBytes(line) });
    const outcome = parsed.kind === 'rejected' ? parsed : map(parsed.value);
    if (outcome.kind !== 'mapped') continue;
    const { events } = outcome;
    const toLabel = ({ timestamp, event }: (typeof events)[number]) =>
      labels.toNumber(timestamp.slice(0, 10), event);
    const [first] = events;
    batches.startRecord();
    if (!first || !writer.write(events, () => batches.startEvent())) continue;
    const label = toLabel(first);
    const repeats =
      events.length === 1
        ? fingerprints.add(at, writer.words, label)
        : fingerprints.addSeveral(at, writer.words, label, {
            hashes: writer.several,
            labels: events.map(toLabel),
          });
    if (repeats !== undefined) firstOf.set(at, repeats);
  }
  const { body, rows, sections } = fingerprints.encode(() => false, labels, []);
  const words = new Int32Array(rows * FINGERPRINT_WORDS);
  Buffer.from(words.buffer).set(body);
  return { own: { words, runs: sections }, firstOf };
}
