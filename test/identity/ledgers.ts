import type { TargetEvent } from '../../src/contract/event.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { EARLIER_ID_WIDTH } from '../../src/identity/connect/earlier-ids.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { type FoldPersonsOptions, foldPersons } from '../../src/identity/fold-persons.ts';
import { ID_WIDTH } from '../../src/identity/merges/id-entry.ts';
import type { LedgerPurpose } from '../../src/identity/merges/merge-decision.ts';
import type { Unmerged } from '../../src/identity/persons-tally.ts';
import { PROPERTY_WIDTH } from '../../src/identity/property-entry.ts';
import { createPropertyFilter, toGroupFields } from '../../src/identity/property-filter.ts';
import type { LateMerge } from '../../src/identity/recall-values.ts';
import { type LedgerAtTurn, resolvePersons } from '../../src/identity/resolve-persons.ts';
import { ResolvedFold } from '../../src/identity/resolved-fold.ts';
import { createMergeEvent, type SyntheticEvent } from '../../src/identity/synthetic-events.ts';
import { createPace } from '../../src/lib/async/pace.ts';
import { parseJson } from '../../src/lib/json/parse-json.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import type { Merge, ResolvedFact } from '../../src/state/facts/resolved-facts.ts';
import { createKeyedHash, type HashForm, type KeyedHash } from '../../src/state/ledger/keyed-hash.ts';
import type { SharedDevices } from '../../src/state/ledger/ledger.ts';
import { createMemoryTables, type LedgerTables } from '../../src/state/ledger/ledger-tables.ts';
import { listProperties } from './facts.ts';

/** A ledger in memory, and the turns that were taken at it. */
export interface TestLedger {
  readonly ids: LedgerTables;
  readonly earlierIds: LedgerTables;
  readonly properties: LedgerTables;
  last: number;
  readonly ended: Set<number>;
  isForgotten: boolean;
  readonly sharedDevices: SharedDevices;
  readonly hash: KeyedHash;
}

export const createTestLedger = (sharedDevices: SharedDevices = 'none', hashForm?: HashForm): TestLedger => ({
  sharedDevices,
  hash: createKeyedHash('test', hashForm),
  ids: createMemoryTables(ID_WIDTH),
  earlierIds: createMemoryTables(EARLIER_ID_WIDTH),
  properties: createMemoryTables(PROPERTY_WIDTH),
  last: 0,
  ended: new Set(),
  isForgotten: false,
});

export const openAtTurn = (
  ledger: TestLedger,
  turn: number,
  purpose: LedgerPurpose = 'send',
): LedgerAtTurn => ({
  hash: ledger.hash,
  turn,
  purpose,
  hasEnded: (other) => ledger.ended.has(other),
  isForgotten: ledger.isForgotten,
  sharedDevices: ledger.sharedDevices,
});

/** A fact with its properties one by one. */
const openFact = (fact: ResolvedFact) =>
  fact.kind === 'floor' || fact.kind === 'active' ? fact : { ...fact, ...listProperties(fact.properties) };

export interface TestTurn {
  readonly merges: Merge[];
  readonly facts: ReturnType<typeof openFact>[];
  readonly unmerged: Unmerged[];
  readonly mergedBefore: number;
  readonly chosen: number;
  /** Merges first. */
  readonly sent: SyntheticEvent[];
  /** The same, parsed. */
  readonly events: TargetEvent[];
}

export interface TurnOptions extends Partial<FoldPersonsOptions> {
  /** @default false */
  readonly overwrite?: boolean;
  readonly purpose?: LedgerPurpose;
  /** Takes a turn again instead of a new one. */
  readonly turn?: number;
  /** The turn is left as a crash leaves it. @default true */
  readonly end?: boolean;
}

const everyBucket = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

/** What a migration with these facts sends, and what it leaves in the ledger. */
export async function takeTestTurn(
  ledger: TestLedger,
  facts: readonly IdentityFact[],
  { purpose = 'send', turn = ledger.last + 1, end = true, overwrite = false, ...shape }: TurnOptions = {},
): Promise<TestTurn> {
  ledger.last = Math.max(ledger.last, turn);
  const known = new FactFold();
  for (const fact of facts) known.add(fact);
  const at = openAtTurn(ledger, turn, purpose);
  const pace = createPace();
  const merges: Merge[] = [];
  const unmerged: Unmerged[] = [];
  const fold = new ResolvedFold();
  let mergedBefore = 0;
  let chosen = 0;
  const tables = await ledger.ids.load(everyBucket);
  const sink = {
    merge: (merge: Merge) => void merges.push(merge),
    fact: (fact: ResolvedFact) => fold.add(fact),
    unmerged: (one: Unmerged) => void unmerged.push(one),
    mergedBefore: () => {
      mergedBefore += 1;
    },
    vendorActive: () => {},
    chosen: () => {
      chosen += 1;
    },
    contradictedUser: () => {},
    lateMerge: ({ of, newestMs }: LateMerge) => fold.add({ kind: 'floor', of, timeMs: newestMs }),
  };
  await resolvePersons(known, at, tables, sink, pace);
  const options = { groupIdentifyEvent: '$group_identify', maxBytes: 900_000, ...shape };
  const properties = await ledger.properties.load(everyBucket);
  const filter = createPropertyFilter({
    hash: at.hash,
    tables: properties,
    at,
    overwrite,
    groupFields: toGroupFields(at.hash, options.groupIdentifyEvent),
  });
  const sent =
    purpose === 'note'
      ? []
      : [
          ...merges.map(([userId, anonId, time]) => createMergeEvent(userId, anonId, time)),
          ...[...foldPersons(fold, filter, options)].flatMap((subject) => {
            unmerged.push(...subject.unmerged);
            return subject.events;
          }),
        ];
  if (end) ledger.ended.add(turn);
  const events = sent.map(({ text }) => parseJson(Buffer.from(text).toString()) as TargetEvent);
  return { merges, facts: [...fold.facts()].map(openFact), unmerged, mergedBefore, chosen, sent, events };
}
