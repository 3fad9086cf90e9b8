import { z } from 'zod';
import { type FactsIndex, factsIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { createPace } from '../../lib/async/pace.ts';
import { BUCKETS } from '../../state/bucket.ts';
import { MEMBER_BUCKETS, STATEMENT_BUCKETS } from '../../state/facts/fact-line.ts';
import { estimateTextBytes } from '../../state/facts/fact-object.ts';
import { MergeLines, type MergesIndex, mergesIndex, readMerges } from '../../state/facts/resolved-facts.ts';
import { toMergesKey } from '../../state/keys/turn.ts';
import { bucketVersions } from '../../state/ledger/versions.ts';
import { type BucketRange, LOAD_LIMITS } from '../load-folds.ts';
import type { Renames } from '../merges/find-users.ts';
import { emptyPersonsTally, personsTally } from '../persons-tally.ts';
import { acceptRenames } from './accept-renames.ts';
import { type ConnectOptions, KEPT } from './context.ts';
import { enterEarlierIds } from './earlier-ids.ts';
import { JoinedPersons } from './link-fold.ts';
import { pairMembers } from './pair-members.ts';
import { rememberFacts } from './remember-facts.ts';
import { keepJoins } from './removed-joins.ts';
import { addJoined } from './statements.ts';

/** What follows from what the vendor says: pairs, users with another id by now, and persons that stay apart. */
export const connected = z.strictObject({
  facts: z.array(factsIndex),
  /** Renamed users, as merges. */
  renames: z.array(mergesIndex),
  people: personsTally,
  /** The vendor has ids of persons of its own. */
  hasPersons: z.boolean(),
  /** Of the buckets of the ledger that hold what was decided. */
  versions: bucketVersions.exactOptional(),
  /** Of those that hold earlier ids. */
  earlierIds: bucketVersions.exactOptional(),
});
export type Connected = z.infer<typeof connected>;

/**
 * Before ids are resolved: two ids that the vendor takes for one person are a pair as if a record had shown both,
 * where exactly one user is among the ids of that person. This joins what is stored under the vendor's names with
 * what is stored under ids, in bounded memory. Repeating it in the same turn yields the same.
 */
export async function connectPersons(options: ConnectOptions): Promise<Connected> {
  const { staging, prefix } = options;
  const listFacts = rememberFacts(options.listFacts);
  const bytes = await countBytes(listFacts());
  if (!bytes.hasLinks) return { facts: [], renames: [], people: emptyPersonsTally(), hasPersons: false };
  const removedJoins = await options.removedJoins?.();
  const people = emptyPersonsTally();
  const joined = new JoinedPersons();
  const reading = {
    ...options,
    listFacts,
    pace: createPace(),
    limits: options.limits ?? LOAD_LIMITS,
    kept: options.kept ?? KEPT,
  };
  await addJoined(joined, listFacts(), reading, people);
  const joinedHere = [...joined.persons()];
  // The vendor's persons are decided over what it said in all migrations.
  const listKnown = rememberFacts(options.listKnown ?? (() => []));
  await addJoined(joined, listKnown(), reading, people);
  const known = await countBytes(listKnown());
  const context = {
    ...reading,
    removedJoins,
    listKnown,
    ranges: cutBuckets(MEMBER_BUCKETS.from, bytes.members + known.members),
    idRanges: cutBuckets(0, bytes.ids),
  };
  if (options.isRemoving && removedJoins)
    await keepJoins(joined, joinedHere, options.ledger.hash, removedJoins);
  const isEarlierId = await enterEarlierIds(context);
  const renames = await acceptRenames(context, people);
  const statements = {
    joined,
    joinedHere: new Set(joinedHere.map((person) => joined.find(person))),
    renames,
    // Where nobody else says anything, all new names are known.
    mayHaveOther: options.isAll ? () => false : isEarlierId,
  };
  const facts = bytes.members + known.members > 0 ? await pairMembers(statements, context, people) : [];
  const saved: MergesIndex[] = [];
  const saveRenames = async (lines: MergeLines) =>
    saved.push(await lines.save(staging, toMergesKey(prefix, STATEMENT_BUCKETS, saved.length)));
  let lines = new MergeLines();
  for (const [from, { to, time }] of renames) {
    lines.add(to, from, time);
    if (lines.count < RENAMES_AT_ONCE) continue;
    await saveRenames(lines);
    lines = new MergeLines();
  }
  if (lines.count > 0) await saveRenames(lines);
  return { facts, renames: saved, people, hasPersons: bytes.members > 0 };
}

const RENAMES_AT_ONCE = 10_000;

/** Text of members and of facts under ids, estimated. */
async function countBytes(facts: Iterable<FactsIndex> | AsyncIterable<FactsIndex>) {
  const bytes = { members: 0, ids: 0, hasLinks: false };
  for await (const index of facts) {
    for (const { bucket, length } of index.sections) {
      const more = estimateTextBytes(index, length);
      if (bucket < MEMBER_BUCKETS.from) bytes.ids += more;
      else bytes.hasLinks = true;
      if (bucket >= MEMBER_BUCKETS.from && bucket < MEMBER_BUCKETS.to) bytes.members += more;
    }
  }
  return bytes;
}

/** Where the sections of all parts are is known for one range of buckets at a time. */
const RANGE_BYTES = 64 * 1024 * 1024;

function cutBuckets(from: number, bytes: number): BucketRange[] {
  const count = Math.min(BUCKETS, Math.max(1, Math.ceil(bytes / RANGE_BYTES)));
  const at = (index: number) => from + Math.floor((index * BUCKETS) / count);
  return Array.from({ length: count }, (_, index) => ({ from: at(index), to: at(index + 1) }));
}

/** Users that have another id by now, and that id. */
export async function loadRenames(
  staging: Staging,
  { renames }: Pick<Connected, 'renames'>,
): Promise<Renames> {
  const all = new Map<string, string>();
  for (const index of renames) for (const [to, from] of await readMerges(staging, index)) all.set(from, to);
  return all;
}
