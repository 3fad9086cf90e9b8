import { addCounts, zeroCounts } from '../../contract/counts.ts';
import type { RecordCounts } from '../../contract/progress.ts';
import { parseSliceId } from '../../state/keys/parts.ts';
import { listTopUps } from '../../state/migrations.ts';
import { listReceipts } from '../../state/receipts.ts';
import { createGeneration, loadRepeats, type Repeats } from '../../state/repeats.ts';
import type { WaitingFiles } from '../../state/schedules/runs.ts';
import { loadLastRun } from '../../state/schedules/runs.ts';
import { RefusedError, requireMigration } from '../life-store.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { applyRepeatsToDays } from '../report/apply-repeats.ts';
import { listSchedules, type ScheduleView } from './schedules.ts';

/** What is in of one UTC day, by the times of the records. */
export interface CoveredDay {
  readonly day: string;
  readonly counts: RecordCounts;
  /** Records that came when a later day was in already. */
  readonly late: number;
  /** When its first and its last records were taken in, ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
}

export interface Coverage {
  readonly days: readonly CoveredDay[];
  /** Days of which nothing is in, between others; first and last of each row. */
  readonly missing: readonly { readonly from: string; readonly to: string }[];
  /** Records without a time that can be read. */
  readonly undated: number;
  /** Files that the last run of its schedule left to a later one. */
  readonly waiting?: WaitingFiles;
  /** Of a migration that no run has begun yet. */
  readonly schedule?: ScheduleView;
}

/** What was taken in at one time: by the beginning of a migration, or by a top-up. */
export interface TakenIn {
  readonly at: string;
  readonly byDay: ReadonlyMap<string, RecordCounts>;
}

/**
 * Of what is imported, by day: what is in, what came late, and what is missing. Throws RefusedError for a name that no
 * migration and no schedule has.
 */
export async function loadCoverage(store: CoverageStore, name: string): Promise<Coverage> {
  try {
    return await loadBegun(store, name);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const schedule = (await listSchedules(store)).find(({ migration }) => migration === name);
    if (schedule === undefined) throw error;
    return { ...toCoverage([]), schedule };
  }
}

type CoverageStore = Pick<MigrationStore, 'staging' | 'now' | 'askRedis'>;

async function loadBegun({ staging }: CoverageStore, name: string): Promise<Coverage> {
  const record = await requireMigration(staging, name);
  const { createdAt, files } = record;
  const takes = [{ at: createdAt, byDay: new Map<string, RecordCounts>() }];
  const takeOf = new Map<string, number>();
  for await (const { at, files: added } of listTopUps(staging, record)) {
    for (const { fileId, slice = fileId } of added) takeOf.set(slice, takes.length);
    takes.push({ at, byDay: new Map() });
  }
  // What the record lists was there first, also where a top-up that raced it lists it again.
  for (const { fileId, slice = fileId } of files) if (!takeOf.has(slice)) takeOf.set(slice, 0);
  const generation = createGeneration();
  for await (const receipt of listReceipts(staging, name)) {
    const { part, tally } = receipt;
    generation.add(receipt);
    const byDay = takes[takeOf.get(parseSliceId(part)) ?? 0]?.byDay;
    for (const [day, counts] of Object.entries(tally.byDay))
      byDay?.set(day, addCounts(byDay.get(day) ?? zeroCounts(), counts));
  }
  const { run } = await loadLastRun(staging, name);
  const coverage = { ...toCoverage(takes), ...(run?.waiting ? { waiting: run.waiting } : {}) };
  return withRepeats(coverage, await loadRepeats(staging, name, generation.end()));
}

/** Records of days that were read again count as the report counts them, once all parts were compared. */
function withRepeats(coverage: Coverage, repeats: Repeats | undefined): Coverage {
  if (!repeats) return coverage;
  const byDay = applyRepeatsToDays(
    Object.fromEntries(coverage.days.map(({ day, counts }) => [day, counts])),
    repeats,
  );
  const days = coverage.days.map((one) => ({ ...one, counts: byDay[one.day] ?? one.counts }));
  return { ...coverage, days };
}

/** `takes` in the order in which they were taken in. */
export function toCoverage(takes: readonly TakenIn[]): Coverage {
  const days = new Map<string, { counts: RecordCounts; late: number; firstAt: string; lastAt: string }>();
  let undated = 0;
  let latest = '';
  for (const { at, byDay } of takes) {
    for (const [day, counts] of byDay) {
      if (!DAY.test(day)) {
        undated += counts.read;
        continue;
      }
      const known = days.get(day);
      days.set(day, {
        counts: addCounts(known?.counts ?? zeroCounts(), counts),
        late: (known?.late ?? 0) + (day < latest ? counts.read : 0),
        firstAt: known?.firstAt ?? at,
        lastAt: at,
      });
    }
    for (const day of byDay.keys()) if (DAY.test(day) && day > latest) latest = day;
  }
  const sorted = [...days].map(([day, of]) => ({ day, ...of })).sort((a, b) => (a.day < b.day ? -1 : 1));
  return { days: sorted, missing: findMissing(sorted.map(({ day }) => day)), undated };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function findMissing(days: readonly string[]): { from: string; to: string }[] {
  const missing: { from: string; to: string }[] = [];
  for (const [index, day] of days.entries()) {
    const next = days[index + 1];
    const after = addDays(day, 1);
    if (next !== undefined && next !== after) missing.push({ from: after, to: addDays(next, -1) });
  }
  return missing;
}

const DAY_MS = 24 * 3_600_000;
const addDays = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);
