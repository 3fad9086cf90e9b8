import { canBeReplayed } from '../../../../src/migrations/rejects/rejects.ts';
import type { Report } from '../../../../src/migrations/report/report.ts';
import { verifyMigration } from '../../../../src/migrations/verify/verify.ts';
import { loadControl } from '../../../../src/state/control.ts';
import { countStored } from '../../../support/count-stored.ts';
import { createLightFamily, type SentEvent } from '../../../support/light-family.ts';
import { createMemoryStaging } from '../../../support/memory-staging.ts';
import { DAYS, type HistoryRecord, type Item, LATER, ODD, type Step } from './history.ts';

const NAME = 'history';
/** More rounds of replays than any history needs. */
const ROUNDS_MOST = 8;

const toManifest = (isCorrected: boolean) => ({
  name: NAME,
  source: {
    type: 'jsonl',
    from: '*.json',
    mapping: {
      event: { column: 'items.e' },
      distinctId: { column: 'u' },
      timestamp: { column: 't' },
      unnest: { column: 'items' },
      key: ['n'],
      values: { t: isCorrected ? { [LATER]: DAYS[0] } : {} },
    },
  },
  rejects: { failAbove: '100%' },
});

/** What makes the vendor's uuid of an event, and its day. */
const toKey = ({ e, i }: Item, n: string, time: string) => `${n} ${e}@${i} of ${time.slice(0, 10)}`;

/**
 * Plays a history, and then replays with a corrected map and without refusals until nothing is left. What is wrong, in
 * sentences: books, `verify` after every step, and at the end what is at the destination. That may keep any of the
 * events that were sent under one uuid, so an event is there for certain only where a row had no other content.
 */
export async function playHistory(steps: readonly Step[], rangeRows?: number): Promise<string[]> {
  const problems: string[] = [];
  const records: HistoryRecord[] = [];
  const contentsOf = new Map<string, Set<string>>();
  const rows = new Map<string, SentEvent & { readonly distinctId: string }>();
  let isRefusing = false;
  const staging = createMemoryStaging();
  const family = createLightFamily({
    ...{ staging, rangeRows },
    deliver: (events) =>
      events.map((event) => {
        if (isRefusing && event.event === ODD) return { kind: 'refused', detail: 'not this one' };
        const { items, n } = event.properties as unknown as { items: Item; n: string };
        const row = `${event.uuid} ${event.timestamp.slice(0, 10)}`;
        const contents = contentsOf.get(row) ?? new Set();
        contentsOf.set(row, contents.add(`${toKey(items, n, event.timestamp)} ${items.v ?? ''}`));
        if (!rows.has(row)) rows.set(row, { ...event, distinctId: 'user' });
        return { kind: 'accepted' };
      }),
  });

  const check = async (what: string, { balanced, problems: found }: Report) => {
    if (!balanced) problems.push(`${what}: ${found.join()}`);
    const { comparisons, unexplained } = await verifyMigration(
      { staging, now: () => new Date(0), askRedis: async () => undefined },
      NAME,
      { openCounts: async (wanted) => countStored({ events: () => rows }, wanted) },
    );
    const { tables = [], total: { old, now } = {} } = comparisons[0] ?? {};
    if (unexplained !== 0 || now !== rows.size)
      problems.push(`${what}: ${unexplained} unexplained, ${old} in the books, ${now} of ${rows.size} there`);
    const areSingle = records.every(({ items }) => items.length === 1);
    if (areSingle && rows.size > 0 && tables.length === 0)
      problems.push(`${what}: days and names are not compared`);
  };
  const names = [NAME];
  const replay = async (of: string, isCorrected: boolean, again = false) => {
    if (!(await canBeReplayed(staging, of))) return false;
    const ended = await family.replay(of, toManifest(isCorrected), again);
    if (!ended) return false;
    names.push(ended.name);
    await check(ended.name, ended.report);
    return true;
  };

  let files = 0;
  for (const step of steps) {
    if (step.kind === 'remove') {
      const of = names[Math.floor(step.of * names.length)] ?? NAME;
      if (await canBeReplayed(staging, of)) await family.remove(of);
      continue;
    }
    ({ isRefusing } = step);
    if (step.kind === 'replay') {
      const of = names[Math.floor(step.of * names.length)];
      if (of !== undefined) await replay(of, step.isCorrected, step.again);
      continue;
    }
    if ((await loadControl(staging, NAME))?.state === 'removed') continue;
    records.push(...step.files.flat());
    const written = step.files.map((file) => {
      files += 1;
      return { name: `${files}.json`, lines: file.map((record) => JSON.stringify(record)) };
    });
    await check(`file ${files}`, await family.import(toManifest(false), written));
  }
  isRefusing = false;
  let isLeft = true;
  for (let round = 0; isLeft && round < ROUNDS_MOST; round += 1) {
    isLeft = false;
    for (const each of [...names]) isLeft = (await replay(each, true)) || isLeft;
  }
  if (isLeft) problems.push('there is always something left to be replayed');
  const hasRemovals = steps.some(({ kind }) => kind === 'remove');
  return [...problems, ...compareRows(records, [...contentsOf.values()], hasRemovals)];
}

/**
 * What is there against what an undisturbed import and its replay make: a row for each key, and where different
 * contents have it, one more for each of them, under a uuid of its own. Of equal events of records that differ
 * elsewhere there is one for each of these. What would take the place of an event that is gone is not sent, so that one
 * keeps its row and has no other.
 */
function compareRows(
  records: readonly HistoryRecord[],
  rows: readonly ReadonlySet<string>[],
  hasRemovals: boolean,
): string[] {
  /** By key and content, how the records differ elsewhere. */
  const wanted = new Map<string, Map<string, Set<string>>>();
  for (const { n, t, items } of records)
    for (const item of items) {
      const key = toKey(item, n, t === LATER ? DAYS[0] : t);
      const contents = wanted.get(key) ?? new Map<string, Set<string>>();
      wanted.set(key, contents);
      const text = `${key} ${item.v ?? ''}`;
      contents.set(text, (contents.get(text) ?? new Set()).add(t));
    }
  const problems: string[] = [];
  const certain = new Set(rows.flatMap((contents) => (contents.size === 1 ? [...contents] : [])));
  for (const [key, contents] of wanted) {
    for (const content of contents.keys()) if (!certain.has(content)) problems.push(`lost: ${content}`);
    const found = rows.filter((row) => [...row].some((content) => contents.has(content))).length;
    const own = [...contents.values()];
    const most = own.length === 1 ? 1 : 1 + own.reduce((sum, { size }) => sum + size, 0);
    const least = own.length === 1 || hasRemovals ? own.length : 1 + own.length;
    if (found < least || found > most) problems.push(`${key}: ${found} rows, expected ${least} to ${most}`);
  }
  return problems;
}
