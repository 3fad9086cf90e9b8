import type { FactsIndex } from '../../src/contract/progress.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { connectPersons } from '../../src/identity/connect/connect-persons.ts';
import type { Kept } from '../../src/identity/connect/context.ts';
import { addHeard, FactFold } from '../../src/identity/fact-fold.ts';
import { foldBuckets } from '../../src/identity/fold-buckets.ts';
import type { LoadLimits } from '../../src/identity/load-folds.ts';
import { listMerges } from '../../src/identity/merges/list-merges.ts';
import { mergePersonsTally, type PersonsTally } from '../../src/identity/persons-tally.ts';
import { resolveBuckets } from '../../src/identity/resolve-buckets.ts';
import { parseJson } from '../../src/lib/json/parse-json.ts';
import type { IncomingEvent } from '../../src/server/capture/incoming-event.ts';
import { planPersons } from '../../src/server/capture/ingest/plan-persons.ts';
import { SOURCE_TYPES } from '../../src/sources/registry.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import { saveFacts } from '../../src/state/facts/fact-object.ts';
import { createTestLedger, openAtTurn, type TestLedger } from './ledgers.ts';

export type Rows = readonly Readonly<Record<string, unknown>>[];

export interface ConnectedPeople {
  /** Ids that are one person at the bundled API, each list and all of them sorted. */
  readonly persons: readonly string[];
  readonly people: PersonsTally;
  /** By month, those with events at the destination. */
  readonly uniques: Readonly<Record<string, number>>;
  /** Merges that the destination refused. */
  readonly warnings: readonly string[];
}

let runs = 0;

/** What becomes of exported rows: mapped in parts, resolved, and taken by the bundled API's own rules. */
export async function importPeople(
  staging: Staging,
  type: string,
  parts: readonly Rows[],
  known: TestLedger = createTestLedger(),
  limits?: LoadLimits,
  kept?: Kept,
): Promise<ConnectedPeople> {
  const source = SOURCE_TYPES.find((one) => one.type === type);
  if (!source) throw new Error(`there is no source ${type}`);
  const map = source.bind(source.block.parse({ type, from: 'x', timezone: 'UTC' })).createMap();
  const prefix = `connected-${++runs}/`;
  const facts: FactsIndex[] = [];
  const events: IncomingEvent[] = [];
  for (const [number, rows] of parts.entries()) {
    const fold = new FactFold();
    for (const row of rows) {
      const outcome = map(row);
      if (outcome.heard) addHeard(fold, outcome.heard);
      else if (outcome.kind === 'rejected') throw new Error(outcome.detail);
      if (outcome.kind === 'rejected') continue;
      if (outcome.userId !== undefined) fold.addUser(outcome.userId);
      for (const fact of outcome.facts) fold.add(fact);
      if (outcome.seen) fold.addSeen(outcome.seen);
      if (outcome.kind === 'mapped')
        for (const { event, uuid, timestamp, properties } of outcome.events)
          events.push(toIncoming(event, uuid, timestamp, properties));
    }
    if (fold.size > 0) facts.push(await saveFacts(staging, `${prefix}${number}.gz`, fold));
  }
  const { signal } = new AbortController();
  known.last += 1;
  const ledger = openAtTurn(known, known.last);
  const { ids: tables, earlierIds } = known;
  const all = { staging, ledger, tables, earlierIds, signal, ...(limits ? { limits } : {}) };
  const connected = await connectPersons({ ...all, prefix: `${prefix}c/`, listFacts: () => facts, kept });
  let { people } = connected;
  const resolvedFacts: FactsIndex[] = [];
  for (const range of [
    { from: 0, to: 20 },
    { from: 20, to: BUCKETS },
  ]) {
    const resolved = await resolveBuckets({ ...all, ...range, prefix: `${prefix}r/`, facts, connected });
    people = mergePersonsTally(people, resolved.people);
    resolvedFacts.push(...resolved.facts);
    for await (const chunk of listMerges(staging, resolved.merges, { after: undefined, chunkEvents: 100 })) {
      people = mergePersonsTally(people, chunk.tally);
      for (const { text } of chunk.events) {
        const sent = parseJson(Buffer.from(text).toString()) as IncomingEvent & {
          properties: { distinct_id: string };
        };
        events.push(toIncoming(sent.event, sent.uuid, sent.timestamp, sent.properties));
      }
    }
  }
  const fold = { ...all, facts: resolvedFacts, tables: known.properties, from: 0, to: BUCKETS };
  const shape = { overwrite: false, groupIdentifyEvent: '$group_identify' };
  for await (const chunk of foldBuckets({ ...fold, ...shape }))
    people = mergePersonsTally(people, chunk.tally);
  known.ended.add(known.last);
  let uuids = 0;
  const plan = planPersons(events, { persons: [], owners: new Map() }, () => `p${++uuids}`);
  const byPerson = new Map<string, string[]>();
  for (const [id, person] of plan.owners) byPerson.set(person, [...(byPerson.get(person) ?? []), id]);
  const active = new Map<string, Set<string>>();
  for (const { event, distinctId, timestamp } of events) {
    if (event === '$identify') continue;
    const month = timestamp.slice(0, 7);
    active.set(month, (active.get(month) ?? new Set()).add(plan.owners.get(distinctId) ?? ''));
  }
  return {
    uniques: Object.fromEntries([...active].map(([month, persons]) => [month, persons.size])),
    persons: [...byPerson.values()].map((ids) => ids.sort().join(' ')).sort(),
    people,
    warnings: Object.keys(plan.warnings),
  };
}

const toIncoming = (
  event: string,
  uuid: string,
  timestamp: string,
  properties: { readonly distinct_id: string },
): IncomingEvent => ({
  event,
  uuid,
  timestamp,
  distinctId: properties.distinct_id,
  properties: { ...properties },
  propertiesText: Buffer.from(''),
});
