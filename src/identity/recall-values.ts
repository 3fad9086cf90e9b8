import type { FactsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import type { Pace } from '../lib/async/pace.ts';
import { getOrder } from '../state/bucket.ts';
import { parseStoredFact } from '../state/facts/fact-line.ts';
import { readLines } from '../state/facts/fact-object.ts';
import type { ResolvedFact } from '../state/facts/resolved-facts.ts';
import {
  parseProperties,
  renderProperties,
  type StoredProperty,
  splitMembers,
  toSnapshots,
} from '../state/facts/snapshots.ts';
import type { LedgerTables } from '../state/ledger/ledger-tables.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import type { Unmerged } from './persons-tally.ts';
import { toTimeMs } from './property-decision.ts';
import { readPropertyEntry } from './property-entry.ts';
import { countEntered, hashSetProperty, mayHaveEntered } from './property-filter.ts';
import type { LedgerAtTurn } from './resolve-persons.ts';

/*
 * When persons are merged, the destination keeps the user's values, however old they are. So what was sent under an
 * anonymous id before it is merged is folded once more, with what is known of the user: what wins is sent again.
 */

/** An id that is merged now, or perhaps was, after set properties were sent under the id itself. */
export interface LateMerge {
  readonly id: string;
  /** Undefined where its merge was entered in a turn that has not ended, and may never be sent, or others sent it. */
  readonly user: string | undefined;
  /** Of the user: see ResolvedFact. */
  readonly of: string;
  /** Newest source time of what was sent. */
  readonly newestMs: number;
}

/** Where values are that earlier turns have sent. */
export interface SentValues {
  /** All identity facts that are still there, those that are being resolved among them. */
  readonly facts: () => Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  /** The ledger's table of properties; nothing is entered. */
  readonly tables: Pick<LedgerTables, 'load'>;
}

export interface RecallOptions {
  readonly staging: Staging;
  readonly ledger: LedgerAtTurn;
  readonly sent: SentValues;
  /** Those that the ids are in. */
  readonly buckets: readonly number[];
  readonly pace: Pace;
}

export interface Recalled {
  readonly facts: readonly ResolvedFact[];
  readonly unmerged: readonly Unmerged[];
}

/**
 * The values that the ledger knows as sent under these ids, as facts of their users. Of those that were to fill gaps,
 * that perhaps are the user's, or that cannot be found, the destination may have anything: up to their times the
 * user's own values replace nothing.
 */
export async function recallValues(late: readonly LateMerge[], options: RecallOptions): Promise<Recalled> {
  const { ledger, sent, buckets } = options;
  const tables = await sent.tables.load(buckets);
  const found = await findSent(new Set(late.map(({ id }) => id)), tables, options);
  const facts: ResolvedFact[] = [];
  const unmerged: Unmerged[] = [];
  for (const { id, user, of, newestMs } of late) {
    const values = found.get(id) ?? new Map<string, SentValue>();
    const own = ledger.hash.id(id);
    const table = tables.get(own[0] ?? 0);
    // A turn that ended between an id and its values has sent none of them: they are entered before they are sent. One
    // that takes in what others sent is repeated with their facts.
    if (values.size === 0 && table && !mayHaveEntered(ledger.hash, table, own)) continue;
    const replaced: StoredProperty[] = [];
    for (const { property, replaces } of values.values()) {
      const { key: name, time } = property;
      if (replaces && user !== undefined) replaced.push(property);
      else facts.push({ kind: 'floor', of, key: name, timeMs: toTimeMs(time) });
    }
    const entered = table ? countEntered(ledger.hash, table, own) : 0;
    // What only fills a gap is not counted. Where nothing is left of an id, something of that kind was removed.
    const isGone = entered > values.size || values.size === 0;
    if (isGone || entered < values.size) facts.push({ kind: 'floor', of, timeMs: newestMs });
    if (isGone && user !== undefined)
      unmerged.push({ reason: 'value_was_removed', id, users: [user], userCount: 1 });
    if (replaced.length > 0 && user !== undefined) {
      const properties = renderProperties(toSnapshots(replaced), []);
      facts.push({ kind: 'person', of, id: user, isAlias: false, properties });
    }
  }
  return { facts, unmerged };
}

interface SentValue {
  readonly property: StoredProperty;
  /** It was sent, or is being sent, so that it replaces what is live. */
  readonly replaces: boolean;
}

/** By id and key: the values of which the ledger has the source time. */
async function findSent(
  ids: ReadonlySet<string>,
  tables: ReadonlyMap<number, RecordTable>,
  { staging, ledger, sent, buckets, pace }: RecallOptions,
): Promise<Map<string, Map<string, SentValue>>> {
  const orders = new Set([...ids].map(getOrder));
  const found = new Map<string, Map<string, SentValue>>();
  const add = (id: string, property: StoredProperty) => {
    const { key, time, text } = property;
    const own = ledger.hash.id(id);
    const table = tables.get(own[0] ?? 0);
    const entry = table && readPropertyEntry(table, hashSetProperty(ledger.hash, own, key));
    if (entry?.timeMs !== toTimeMs(time)) return;
    const values = found.get(id) ?? new Map<string, SentValue>();
    found.set(id, values);
    const known = values.get(key);
    // As within one migration, of two values of one time.
    if (known && known.property.text >= text) return;
    values.set(key, { property, replaces: entry.replaced || entry.isHeldBack });
  };
  for await (const { key, sections } of sent.facts()) {
    for (const section of sections) {
      if (!buckets.includes(section.bucket)) continue;
      const { offset, length } = section;
      const lines = await readLines(staging, { key, offset, length, sections: [section] });
      for (const fact of lines.parse(parseStoredFact, (order) => orders.has(order))) {
        if ((fact.kind === 'id' || fact.kind === 'person') && ids.has(fact.id))
          for (const { time, text } of parseProperties(fact.properties).set)
            splitMembers(text, (name, value) => add(fact.id, { key: name, time, text: value }));
        if (pace.isDue()) await pace.rest();
      }
    }
  }
  return found;
}
