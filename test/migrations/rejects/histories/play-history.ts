import type { Delivery } from '../../../../src/contract/delivery.ts';
import type { Staging } from '../../../../src/contract/staging.ts';
import { getMessage } from '../../../../src/lib/errors.ts';
import { canBeReplayed } from '../../../../src/migrations/rejects/rejects.ts';
import type { Report } from '../../../../src/migrations/report/report.ts';
import { verifyMigration } from '../../../../src/migrations/verify/verify.ts';
import { createEventId } from '../../../../src/sources/mapping/event-id.ts';
import { loadControl } from '../../../../src/state/control.ts';
import { LEDGERS } from '../../../../src/state/keys/ledger.ts';
import { countStored } from '../../../support/count-stored.ts';
import { createLightFamily, type SentEvent } from '../../../support/light-family.ts';
import { createMemoryStaging } from '../../../support/memory-staging.ts';
import { type Cut, DAYS, type HistoryRecord, type Item, LATER, ODD, type Step } from './history.ts';

const NAME = 'history';
/** More rounds of replays than any history needs. */
const ROUNDS_MOST = 8;

const toManifest = (isCorrected: boolean, hasOwnIds: boolean) => ({
  name: NAME,
  source: {
    type: 'jsonl',
    from: '*.json',
    mapping: {
      event: { column: 'items.e' },
      distinctId: { column: 'u' },
      timestamp: { column: 't' },
      unnest: { column: 'items' },
      ...(hasOwnIds ? { uuid: { column: 'items.id' } } : { key: ['n'] }),
      values: { t: isCorrected ? { [LATER]: DAYS[0] } : {} },
    },
  },
  rejects: { failAbove: '100%' },
});

class Killed extends Error {}

/** What makes the vendor's uuid of an event, and its day. */
const toKey = ({ e, i }: Item, n: string, time: string) => `${n} ${e}@${i} of ${time.slice(0, 10)}`;

/** `find`: called for each change of a migration in staging; where it finds a cut, the process ends. */
function killAtWrites(staging: Staging, find: () => Cut | undefined): Staging {
  const change = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    // Kills while a ledger is written are for histories of persons.
    const at = key.startsWith(LEDGERS) ? undefined : find();
    if (at && !at.isTaken) throw new Killed();
    const done = await work();
    if (at) throw new Killed();
    return done;
  };
  return {
    ...staging,
    put: (key, body) => change(key, () => staging.put(key, body)),
    create: (key, body) => change(key, () => staging.create(key, body)),
    remove: (key) => change(key, () => staging.remove(key)),
  };
}

/** Items that have their uuids from the vendor, who gives some of one record the same. */
const withIds = ({ items, ...record }: HistoryRecord) => ({
  ...record,
  items: items.map((item) => ({ ...item, id: createEventId([record.n, item.e, String(item.i)]) })),
});

/**
 * Plays a history, and then replays with a corrected map and without refusals until nothing is left. What is wrong, in
 * sentences: books, `verify` after every step, and at the end what is at the destination. That may keep any of the
 * events that were sent under one uuid, so an event is there for certain only where a row had no other content.
 */
export async function playHistory(
  steps: readonly Step[],
  rangeRows?: number,
  /** Of items, and two of one record may have the same; equal ones of these are one event. */
  hasOwnIds = false,
): Promise<string[]> {
  const problems: string[] = [];
  const records: HistoryRecord[] = [];
  const contentsOf = new Map<string, Set<string>>();
  const rows = new Map<string, SentEvent & { readonly distinctId: string }>();
  let isRefusing = false;
  let cut: Cut | undefined;
  let requests = 0;
  let writes = 0;
  let isCounting = false;
  const unfinished = new Set<string>();
  const cancelled = new Set<string>();
  const halfRemoved = new Set<string>();
  /** What was sent of a cancelled replay that was removed is in no books. */
  let hasGivenUp = false;
  /** What was taken before a process was killed may be sent again, and is taken again. */
  const unanswered = new Set<string>();
  const staging = killAtWrites(createMemoryStaging(), () => {
    if (cut?.at !== 'write' || !isCounting) return undefined;
    writes += 1;
    return writes === cut.after + 1 ? cut : undefined;
  });
  const family = createLightFamily({
    ...{ staging, rangeRows },
    onImport: () => {
      isCounting = true;
    },
    deliver: (events) => {
      const isCut = cut?.at === 'request' && cut.after === requests;
      requests += 1;
      if (isCut && !cut?.isTaken) throw new Killed();
      const deliveries = take(events);
      if (isCut) throw new Killed();
      return deliveries;
    },
  });
  const take = (events: readonly SentEvent[]): Delivery[] =>
    events.map((event) => {
      const { items, n } = event.properties as unknown as { items: Item; n: string };
      const row = `${event.uuid} ${event.timestamp.slice(0, 10)}`;
      if (isRefusing && event.event === ODD && items.v !== 'three' && !unanswered.has(row))
        return { kind: 'refused', detail: 'not this one' };
      if (cut) unanswered.add(row);
      const contents = contentsOf.get(row) ?? new Set();
      contentsOf.set(row, contents.add(`${toKey(items, n, event.timestamp)} ${items.v ?? ''}`));
      if (!rows.has(row)) rows.set(row, { ...event, distinctId: 'user' });
      return { kind: 'accepted' };
    });
  /** False where it was killed. */
  const untilCut = async (name: string, at: Cut | undefined, run: () => Promise<Report | undefined>) => {
    cut = at;
    requests = 0;
    writes = 0;
    isCounting = false;
    const report = await run().catch((error: unknown) => {
      if (error instanceof Killed) return undefined;
      throw error;
    });
    cut = undefined;
    if (report) unfinished.delete(name);
    return report;
  };

  const check = async (what: string, { balanced, problems: found }: Report) => {
    if (!balanced) problems.push(`${what}: ${found.join()}`);
    if (unfinished.size + cancelled.size > 0 || hasGivenUp) return;
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
  /** What each replay is of. */
  const replayed = new Map<string, string>();
  const resume = async (name: string) => {
    const report = await untilCut(name, undefined, () => family.resume(name));
    if (report) await check(name, report);
  };
  const replay = async (of: string, isCorrected: boolean, again = false, at?: Cut) => {
    if (unfinished.has(of) || cancelled.has(of) || halfRemoved.has(of)) return false;
    if (!(await canBeReplayed(staging, of))) return false;
    let begun = '';
    const onBegin = (name: string) => {
      begun = name;
      names.push(name);
      replayed.set(name, of);
      unfinished.add(name);
    };
    const run = async () =>
      (await family.replay(of, toManifest(isCorrected, hasOwnIds), again, onBegin))?.report;
    let isAdvised = false;
    const report = await untilCut('', at, run).catch(async (error: unknown) => {
      const [, name] = /^migration "(.+?)" was cancelled before/.exec(getMessage(error)) ?? [];
      if (name === undefined) throw error;
      isAdvised = cancelled.delete(name);
      unfinished.add(name);
      await resume(name);
      return undefined;
    });
    if (begun === '') return isAdvised;
    if (!report) return true;
    unfinished.delete(begun);
    await check(begun, report);
    return true;
  };

  const remove = async (of: string, at?: Cut): Promise<string> => {
    cut = at;
    writes = 0;
    isCounting = true;
    try {
      await family.remove(of);
      halfRemoved.delete(of);
    } catch (error) {
      if (!(error instanceof Killed)) return getMessage(error);
      halfRemoved.add(of);
    } finally {
      cut = undefined;
    }
    return '';
  };

  let files = 0;
  for (const step of steps) {
    if (step.kind === 'lose') {
      family.loseCheckpoints();
      continue;
    }
    if (step.kind === 'cancel') {
      const replays = [...unfinished].filter((name) => name !== NAME);
      const of = replays[Math.floor(step.of * replays.length)];
      if (of === undefined) continue;
      await family.cancel(of);
      unfinished.delete(of);
      cancelled.add(of);
      continue;
    }
    if (step.kind === 'remove') {
      const of = names[Math.floor(step.of * names.length)] ?? NAME;
      if (unfinished.has(of) || (!halfRemoved.has(of) && !(await canBeReplayed(staging, of)))) continue;
      const refused = await remove(of, step.cut);
      // What one under way has sent is compared with the others once it is all in.
      const isUnderWay = unfinished.size > 0 && /has not finished/.test(refused);
      const mayHaveReplaced = cancelled.size > 0 && /was given up before/.test(refused);
      if (refused !== '' && !isUnderWay && !mayHaveReplaced) problems.push(refused);
      if (refused === '' && cancelled.delete(of)) hasGivenUp = true;
      continue;
    }
    ({ isRefusing } = step);
    if (step.kind === 'resume') {
      const of = [...unfinished][Math.floor(step.of * unfinished.size)];
      if (of !== undefined) await resume(of);
      continue;
    }
    if (step.kind === 'replay') {
      const of = names[Math.floor(step.of * names.length)];
      if (of !== undefined) await replay(of, step.isCorrected, step.again, step.cut);
      continue;
    }
    if ((await loadControl(staging, NAME))?.state === 'removed') continue;
    records.push(...step.files.flat());
    const written = step.files.map((file) => {
      files += 1;
      return {
        name: `${files}.json`,
        lines: file.map((record) => JSON.stringify(hasOwnIds ? withIds(record) : record)),
      };
    });
    unfinished.add(NAME);
    const report = await untilCut(NAME, step.cut, () => family.import(toManifest(false, hasOwnIds), written));
    if (report) await check(`file ${files}`, report);
  }
  isRefusing = false;
  for (const name of [...unfinished]) await resume(name);
  // Taken over first, and then removed: what they rejected is replayed from there.
  for (const name of cancelled) await replay(replayed.get(name) ?? NAME, true);
  for (const name of [...cancelled]) {
    const refused = await remove(name);
    if (refused !== '') problems.push(refused);
    cancelled.delete(name);
    hasGivenUp = true;
  }
  for (const name of halfRemoved) {
    const refused = await remove(name);
    if (refused !== '') problems.push(refused);
  }
  let isLeft = true;
  for (let round = 0; isLeft && round < ROUNDS_MOST; round += 1) {
    isLeft = false;
    for (const each of [...names]) isLeft = (await replay(each, true)) || isLeft;
  }
  if (isLeft) problems.push('there is always something left to be replayed');
  const hasRemovals = steps.some(({ kind }) => kind === 'remove');
  return [...problems, ...compareRows(records, [...contentsOf.values()], hasRemovals, hasOwnIds)];
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
  hasOwnIds: boolean,
): string[] {
  /** By key and content, how the records differ elsewhere. */
  const wanted = new Map<string, Map<string, Set<string>>>();
  for (const { n, t, items } of records) {
    const passed = new Set<string>();
    for (const [place, item] of items.entries()) {
      const key = toKey(item, n, t === LATER ? DAYS[0] : t);
      const contents = wanted.get(key) ?? new Map<string, Set<string>>();
      wanted.set(key, contents);
      const text = `${key} ${item.v ?? ''}`;
      // Without ids of their own, items of two places are never equal.
      const variant = hasOwnIds ? `${t} ${place}` : t;
      if (!passed.has(text)) contents.set(text, (contents.get(text) ?? new Set()).add(variant));
      passed.add(text);
    }
  }
  const problems: string[] = [];
  const certain = new Set(rows.flatMap((contents) => (contents.size === 1 ? [...contents] : [])));
  for (const [key, contents] of wanted) {
    for (const content of contents.keys()) if (!certain.has(content)) problems.push(`lost: ${content}`);
    const found = rows.filter((row) => [...row].some((content) => contents.has(content))).length;
    const own = [...contents.values()];
    const most = own.length === 1 ? 1 : 1 + own.reduce((sum, { size }) => sum + size, 0);
    const least = own.length === 1 || hasRemovals || hasOwnIds ? own.length : 1 + own.length;
    if (found < least || found > most) problems.push(`${key}: ${found} rows, expected ${least} to ${most}`);
  }
  return problems;
}
