import type { MigrationStore } from '../../migrations/migration-runtime.ts';
import { type Coverage, loadCoverage } from '../../migrations/schedule/coverage.ts';
import { listSchedules, type ScheduleView } from '../../migrations/schedule/schedules.ts';
import { createReaders } from '../../migrations/status/readers.ts';
import type { MigrationStatus, MigrationView } from '../../migrations/status/view.ts';
import { LiveValue } from './live-value.ts';

/** All migrations of a store, and their schedules. */
export interface Overview {
  readonly migrations: readonly MigrationStatus[];
  readonly schedules: readonly ScheduleView[];
}

/** What is known of the migrations of a store, read once for all who look. */
export interface Views {
  readAll(): Promise<Overview>;
  /** Throws RefusedError where there is no such migration; so do the next three. */
  readStatus(name: string): Promise<MigrationStatus>;
  readView(name: string): Promise<MigrationView>;
  readCoverage(name: string): Promise<Coverage>;
  getLiveView(name: string): Promise<LiveValue<MigrationView>>;
  readonly liveList: LiveValue<Overview>;
  countListeners(): number;
}

/** Pages that are open are read each second, but a schedule runs each minute at most. */
const SCHEDULES_FOR_MS = 10_000;

export function createViews(store: MigrationStore): Views {
  const readers = createReaders(store);
  const liveViews = new Map<string, LiveValue<MigrationView>>();
  let schedules: readonly ScheduleView[] = [];
  let schedulesAtMs = Number.NEGATIVE_INFINITY;
  const readSchedules = async () => {
    schedules = await listSchedules(store);
    schedulesAtMs = performance.now();
  };
  const readAll = async (schedulesForMs = 0): Promise<Overview> => {
    const isOld = performance.now() - schedulesAtMs >= schedulesForMs;
    const [migrations] = await Promise.all([readers.readAll(), isOld && readSchedules()]);
    const names = new Set(migrations.map(({ migration }) => migration));
    for (const known of liveViews.keys()) if (!names.has(known)) liveViews.delete(known);
    return { migrations, schedules };
  };
  const readView = async (name: string) => (await readers.get(name)).readView();
  const liveList = new LiveValue(() => readAll(SCHEDULES_FOR_MS));
  return {
    readAll: () => readAll(),
    readStatus: async (name) => (await readers.get(name)).readStatus(),
    readView,
    readCoverage: (name) => loadCoverage(store, name),
    async getLiveView(name) {
      await readers.get(name);
      const live = liveViews.get(name) ?? new LiveValue(() => readView(name));
      liveViews.set(name, live);
      return live;
    },
    liveList,
    countListeners: () =>
      [liveList, ...liveViews.values()].reduce((sum, { listeners }) => sum + listeners, 0),
  };
}
