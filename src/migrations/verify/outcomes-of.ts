import { zeroCounts } from '../../contract/counts.ts';
import type { RecordCounts } from '../../contract/progress.ts';
import type { Report } from '../report/report.ts';
import type { SharedEvents } from './shared-events.ts';

type ByKey = Readonly<Record<string, RecordCounts>>;

/** What a migration and the replays of its rejects have come to together. */
export interface Outcomes {
  readonly byDay: ByKey;
  readonly byEvent: ByKey;
  /** Why records were skipped, by reason. */
  readonly byReason: Readonly<Record<string, number>>;
  readonly delivered: number;
  /** Different events that were accepted; undefined where repeats are not counted. */
  readonly distinct: number | undefined;
  /** Accepted events about persons and groups. */
  readonly synthetic: number;
  /** Whether each record is one event, so that days and names of records are those of events. */
  readonly isOneToOne: boolean;
}

/**
 * A replay sends records again that its migration counts as rejected, and its events carry the same stamp: what it
 * did with them takes the place of these rejects. `shared`: what several of them sent, which the destination has once.
 */
export function addUpReports(
  first: Report,
  replays: readonly Report[],
  shared: SharedEvents = { events: 0, byDay: new Map(), byEvent: new Map() },
): Outcomes {
  const all = [first, ...replays];
  const sum = (count: (report: Report) => number) => all.reduce((total, each) => total + count(each), 0);
  // Of reports of earlier versions, the sums alone tell; those of records that repeat others in part may be alike.
  const hasSeveral = all.some(({ events }) => events.several);
  // A replay that was given up counts no repeats.
  const isCounted = first.events.distinct !== undefined;
  const delivered =
    sum(({ counts }) => counts.delivered) -
    [...shared.byDay.values()].reduce((total, count) => total + count, 0);
  const distinct = isCounted
    ? sum(({ events }) => events.distinct ?? events.accepted) - shared.events
    : undefined;
  return {
    byDay: addUp(
      all.map(({ byDay }) => byDay),
      shared.byDay,
    ),
    byEvent: addUp(
      all.map(({ byEvent }) => byEvent),
      shared.byEvent,
    ),
    byReason: addReasons(all),
    delivered,
    distinct,
    synthetic: sum(({ events }) => events.synthetic),
    isOneToOne: !hasSeveral && (distinct === undefined || distinct === delivered),
  };
}

function addUp([first = {}, ...replays]: readonly ByKey[], shared: ReadonlyMap<string, number>): ByKey {
  const sums = new Map(Object.entries(first).map(([key, counts]) => [key, { ...counts }]));
  for (const replay of replays)
    for (const [key, counts] of Object.entries(replay)) {
      const sum = sums.get(key) ?? zeroCounts();
      sums.set(key, sum);
      sum.rejected = Math.max(0, sum.rejected - counts.read) + counts.rejected;
      sum.delivered += counts.delivered;
      sum.skipped += counts.skipped;
      sum.duplicate += counts.duplicate;
      sum.read = sum.delivered + sum.skipped + sum.duplicate + sum.rejected;
    }
  for (const [key, count] of shared) {
    const sum = sums.get(key);
    if (!sum) continue;
    sum.delivered -= count;
    sum.duplicate += count;
  }
  return Object.fromEntries(sums);
}

/** A replay sends what was rejected: reasons to skip are those of all, and others are not told apart here. */
function addReasons(all: readonly Report[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const { byReason } of all)
    for (const [reason, count] of Object.entries(byReason)) sums.set(reason, (sums.get(reason) ?? 0) + count);
  return Object.fromEntries(sums);
}
