import { z } from 'zod';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { loadControl } from '../../state/control.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { requireMigration } from '../life-store.ts';
import { createMigrationStamp, readStamps } from '../manifest/stamps.ts';
import { loadStoredManifest } from '../manifest/stored-manifest.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { loadFamily } from '../rejects/family.ts';
import { buildReport } from '../report/build-report.ts';
import { loadBooks } from '../report/load-books.ts';
import { loadStoredReport, type Report } from '../report/report.ts';
import { isFinished, loadReport } from '../report.ts';
import { compareDestination, compareUsersByEvent } from './compare-destination.ts';
import { compareVendor } from './compare-vendor.ts';
import { type Comparison, listUnexplained } from './comparison.ts';
import { type DestinationCounts, readDestination, type WantedEvents } from './destination-counts.ts';
import { type Cell, EventCounts, toCellKey } from './event-counts.ts';
import { addUpReports, type Outcomes } from './outcomes-of.ts';
import { countSharedEvents, type Sender } from './shared-events.ts';

export interface VerifyOptions {
  /** Asks the destination. Absent: it is not asked. */
  readonly openCounts?: ((wanted: WantedEvents) => Promise<DestinationCounts>) | undefined;
  /** The vendor's own counts. */
  readonly vendor?: AsyncIterable<Cell> | undefined;
}

export interface Verification {
  readonly migration: string;
  /** Replays of its rejects, which are counted with it. */
  readonly replays: readonly string[];
  readonly destination: string;
  readonly comparisons: readonly Comparison[];
  /** Events about persons and groups: those that were sent, and those at the destination. Fewer are a difference. */
  readonly synthetic?: { readonly sent: number; readonly held: number };
  /** What a reader of the numbers must know, in sentences. */
  readonly notes: readonly string[];
  /** Rows that nothing explains. */
  readonly unexplained: number;
}

/**
 * Compares what the report of a migration says with what its destination holds, and with the vendor's own numbers.
 * Memory goes by days and names. Changes nothing: see `keepVerification`. Throws RefusedError for a name that no migration has, ConfigError
 * for one that is not finished, and what `openCounts` and `vendor` throw.
 */
export async function verifyMigration(
  store: MigrationStore,
  asked: string,
  { openCounts, vendor }: VerifyOptions,
): Promise<Verification> {
  const { staging } = store;
  const [record, ...replays] = await loadFamily(staging, await requireMigration(staging, asked));
  const reports: Report[] = [];
  const senders: Sender[] = [];
  const givenUp: string[] = [];
  for (const each of [record, ...replays]) {
    const state = (await loadControl(staging, each.name))?.state;
    const isGivenUp = each !== record && (state === 'cancelled' || state === 'removed');
    const report = await (isGivenUp ? loadGivenUp(store, each, state) : loadFinished(store, each.name));
    reports.push(report);
    if (isGivenUp && !isFinished(report)) givenUp.push(each.name);
    senders.push({ record: each, isCounted: report.repeats?.counted === true });
  }
  const [report, ...others] = reports;
  if (!report) throw new Error('a migration has a report');
  const shared = others.length === 0 ? undefined : await countSharedEvents(staging, senders);
  const outcomes = addUpReports(report, others, shared);
  const given = vendor && (await readVendor(vendor));
  const manifests = await loadManifests(staging, [record, ...replays]);
  const wanted = toWanted(record, manifests);
  const held = openCounts && (await readHeld(await openCounts(wanted), wanted, outcomes, given?.cells));

  const people = reports.map((each) => each.people);
  const comparisons: Comparison[] = [];
  if (held) {
    const uniques = others.length === 0 && !report.people.held ? report.people.uniques : undefined;
    const isStamped = wanted.stamp !== undefined;
    comparisons.push(
      compareDestination({ outcomes, held: held.held, heldSynthetic: held.synthetic, isStamped, uniques }),
    );
  }
  if (given) {
    const compared = compareVendor(given.counts, outcomes, listDropped(manifests));
    const hasMerges = people.some(({ pairs, mergedBefore = 0 }) => pairs + mergedBefore > 0);
    const users = held && compareUsersByEvent(given.cells.values(), (key) => held.cells.get(key), hasMerges);
    comparisons.push(
      users && users.rows.length > 0 ? { ...compared, tables: [...compared.tables, users] } : compared,
    );
  }
  return {
    migration: record.name,
    replays: replays.map(({ name }) => name),
    destination: report.destination,
    comparisons,
    ...(held ? { synthetic: { sent: outcomes.synthetic, held: held.synthetic } } : {}),
    notes: [...listNotes(outcomes, wanted, held, comparisons), ...givenUp.map(describeGivenUp)],
    unexplained: comparisons.reduce((sum, each) => sum + listUnexplained(each).length, 0),
  };
}

async function loadFinished(store: MigrationStore, name: string): Promise<Report> {
  const report = await loadReport(store, name);
  const { parts, files } = report.unfinished;
  if (parts === 0 && files.length === 0) return report;
  throw new ConfigError(
    `migration "${name}" is not finished, so what is missing may still come: finish it with "backhaul resume ${name}", then verify`,
  );
}

/** What the receipts of a replay come to that is not resumed any more: its migration has the rest. */
async function loadGivenUp(
  store: MigrationStore,
  record: MigrationRecord,
  state: 'cancelled' | 'removed',
): Promise<Report> {
  if (state === 'cancelled') return loadReport(store, record.name);
  const stored = await loadStoredReport(store.staging, record.name);
  if (stored && isFinished(stored)) return stored;
  return buildReport({ ...(await loadBooks(store.staging, record)), failures: [] });
}

const describeGivenUp = (name: string): string =>
  `Replay ${name} was given up: of its parts that have no receipt nothing is counted here, and some of their events may be at the destination. A further replay sends all of them, and then they count.`;

async function loadManifests(staging: Staging, family: readonly MigrationRecord[]): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { name } of family) manifests.push((await loadStoredManifest(staging, name)).manifest);
  return manifests;
}

/** Names of events, as exported, that are not imported. */
const listDropped = (manifests: readonly Manifest[]): Set<string> =>
  new Set(manifests.flatMap(({ source }) => dropping.parse(source).dropEvents));

const dropping = z.object({ dropEvents: z.array(z.string()).default([]) });

function toWanted(record: MigrationRecord, manifests: readonly Manifest[]): WantedEvents {
  const groupEvents = new Set(manifests.map(({ people }) => people.groupIdentifyEvent));
  const { importId: property } = readStamps(record);
  const value = property === false ? undefined : createMigrationStamp(record)?.properties[property];
  return {
    stamp: property === false || value === undefined ? undefined : { property, value },
    synthetic: ['$identify', ...groupEvents],
  };
}

interface Given {
  readonly counts: EventCounts;
  /** Those that say how many users there are. */
  readonly cells: ReadonlyMap<string, Cell>;
}

async function readVendor(vendor: AsyncIterable<Cell>): Promise<Given> {
  const counts = new EventCounts();
  const cells = new Map<string, Cell>();
  for await (const cell of vendor) {
    counts.add(cell);
    if (cell.users !== undefined) cells.set(toCellKey(cell), cell);
  }
  return { counts, cells };
}

const readHeld = (
  counts: DestinationCounts,
  wanted: WantedEvents,
  { byDay }: Outcomes,
  cells: Given['cells'] | undefined,
) =>
  readDestination(
    counts,
    wanted,
    // Without a stamp, days of which nothing was sent are those of others.
    ({ day }) => wanted.stamp !== undefined || (byDay[day]?.delivered ?? 0) > 0,
    (key) => cells?.has(key) ?? false,
  );

function listNotes(
  { isOneToOne, distinct }: Outcomes,
  { stamp }: WantedEvents,
  held: Awaited<ReturnType<typeof readHeld>> | undefined,
  comparisons: readonly Comparison[],
): string[] {
  const notes: string[] = [];
  if (!isOneToOne)
    notes.push(
      'Some records are several events, or were refused in part: the report counts days and names of records, so only the sum of all events is compared with the destination.',
    );
  if (distinct === undefined)
    notes.push('Repeats are not counted over all parts, so the report may count an event twice.');
  if (!held) return notes;
  if (!stamp)
    notes.push(
      'Events of this migration carry no stamp (stamps.importId), so other events of the project count with them.',
    );
  if (held.repeats > 0)
    notes.push(
      `The destination stores ${held.repeats} rows that repeat others. It removes them by itself; here they count once.`,
    );
  if (stamp && held.held.others > 0)
    notes.push(
      `The project has ${held.held.others} other events. An event that another migration sent before is there once, under the name of that one.`,
    );
  if (stamp && held.held.others > 0 && comparisons.some(lacksPersons))
    notes.push(
      'There are fewer persons than the report expects. Other events of the project may have merged them, and nothing proves it: look at persons who have several of the ids that the migration sent.',
    );
  return notes;
}

const lacksPersons = ({ old, tables }: Comparison): boolean =>
  old === 'report' &&
  tables.some(({ by, rows }) => by === 'users' && rows.some(({ unexplained }) => unexplained < 0));
