import type { MigrationStore } from '../../migrations/migration-runtime.ts';
import { createReaders } from '../../migrations/status/readers.ts';
import type { MigrationStatus, MigrationView } from '../../migrations/status/view.ts';
import { LiveValue } from './live-value.ts';

/** What is known of the migrations of a store, read once for all who look. */
export interface Views {
  readAll(): Promise<MigrationStatus[]>;
  /** Throws RefusedError where there is no such migration; so do the next two. */
  readStatus(name: string): Promise<MigrationStatus>;
  readView(name: string): Promise<MigrationView>;
  getLiveView(name: string): Promise<LiveValue<MigrationView>>;
  readonly liveList: LiveValue<MigrationStatus[]>;
  countListeners(): number;
}

export function createViews(store: MigrationStore): Views {
  const readers = createReaders(store);
  const liveViews = new Map<string, LiveValue<MigrationView>>();
  const readAll = async () => {
    const all = await readers.readAll();
    const names = new Set(all.map(({ migration }) => migration));
    for (const known of liveViews.keys()) if (!names.has(known)) liveViews.delete(known);
    return all;
  };
  const readView = async (name: string) => (await readers.get(name)).readView();
  const liveList = new LiveValue(readAll);
  return {
    readAll,
    readStatus: async (name) => (await readers.get(name)).readStatus(),
    readView,
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
