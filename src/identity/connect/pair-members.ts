import { isHeardTime, joinTimes, toHeardTime } from '../../contract/heard-time.ts';
import { cutPersonOf } from '../../contract/identity-fact.ts';
import type { FactsIndex } from '../../contract/progress.ts';
import { isJunkId } from '../../sources/mapping/identity.ts';
import { BucketLines } from '../../state/facts/bucket-lines.ts';
import { MEMBER_BUCKETS, type StoredFact, toVendorId, writeFact } from '../../state/facts/fact-line.ts';
import { saveLines } from '../../state/facts/fact-object.ts';
import { toResolvedFactsKey } from '../../state/keys/turn.ts';
import { FACTS, type FoldKind, loadFolds, PIECE_IDS } from '../load-folds.ts';
import { areAllNames, enterNames } from '../merges/earlier-names.ts';
import { enterVendorPerson } from '../merges/id-entry.ts';
import { addUnmerged, countActive, type PersonsTally, USERS_SHOWN } from '../persons-tally.ts';
import type { Accepted } from './accept-renames.ts';
import type { Context, KnownFacts } from './context.ts';
import { loadFormerUsers } from './former-names.ts';
import { type JoinedPersons, type Link, LinkFold, type VendorPerson } from './link-fold.ts';
import { loadRemovedJoins } from './removed-joins.ts';

export interface MemberStatements {
  readonly joined: JoinedPersons;
  /** Names of those that are joined by the facts at hand. */
  readonly joinedHere: ReadonlySet<string>;
  readonly renames: Accepted;
  /** A user may be one with another one, as the facts at hand need not say. */
  readonly mayHaveOther: (user: string) => boolean;
}

/**
 * The pairs that follow from the members of the vendor's persons. Of the persons that only other migrations speak of,
 * these have said everything.
 */
export async function pairMembers(
  { joined, joinedHere, renames, mayHaveOther }: MemberStatements,
  context: Context,
  people: PersonsTally,
): Promise<FactsIndex[]> {
  const { staging, prefix, ledger, tables, signal, pace, limits, ranges, listFacts, listKnown } = context;
  const { removedJoins, isRemoving = false, isAll = false } = context;
  let objects = 0;
  const facts = createWriter();

  const moved = createWriter();
  const movedKnown = createWriter();
  const movedWaiting = createWriter();
  const wanted = new Set<string>();
  if (joined.size > 0) {
    for await (const { fold } of loadMembers()) {
      for (const { isKnown, isWaiting, ...fact } of fold.list()) {
        if (fact.kind !== 'member') continue;
        const person = joined.find(fact.person);
        if (removedJoins && joined.has(person)) wanted.add(person);
        const writer = isWaiting ? movedWaiting : isKnown ? movedKnown : moved;
        if (person !== fact.person) writer.write({ ...fact, person });
        if (pace.isDue()) await pace.rest();
      }
      for (const writer of [moved, movedKnown, movedWaiting]) await writer.flush(limits.foldBytes);
    }
    for (const writer of [moved, movedKnown, movedWaiting]) await writer.flush();
  }

  const isJoinedUnknown = removedJoins
    ? await loadRemovedJoins(joined, ledger.hash, removedJoins)
    : () => false;
  const former = await loadFormerUsers(joined, wanted, context);

  let open: Awaited<ReturnType<typeof tables.load>> = new Map();
  let openBuckets: readonly number[] = [];
  for await (const { fold, buckets } of loadMembers()) {
    if (openBuckets !== buckets) {
      await tables.save(open);
      open = await tables.load(buckets.map((bucket) => bucket - MEMBER_BUCKETS.from));
      openBuckets = buckets;
    }
    for (const [name, person] of fold.persons) {
      if (joined.find(name) !== name) continue;
      decidePerson(name, person);
      if (pace.isDue()) await pace.rest();
      await facts.flush(limits.foldBytes);
    }

    function decidePerson(name: string, { users, others, waiting, months, isOwn }: VendorPerson): void {
      const known = earliest(users, renames);
      const mayBeOne = users.size > 1 && [...known.keys()].some(mayHaveOther);
      const isTouched = isOwn || joinedHere.has(cutPersonOf(name)[0]);
      if (!isTouched && !mayBeOne) return;
      countActive(people, 'vendor', months);
      /** Of a person whose records are all only heard, such as those outside a window, a report says nothing. */
      const report = (...unmerged: Parameters<typeof toApart>) => {
        const isOnlyHeard = [users, others, waiting].every((ids) => areHeard(ids));
        if (!isOnlyHeard) addUnmerged(people, toApart(...unmerged));
      };
      const key = ledger.hash.group(toVendorId(name));
      const table = open.get(key[0] ?? 0);
      const hashes = [...known.keys()].map((id) => ledger.hash.id(id));
      const before = former.get(name);
      if (before) hashes.push(...before.users);
      const earlier =
        renames.size === 0 ? [] : [...users.keys()].filter((id) => renames.has(id) && !isJunkId(id)).sort();
      const {
        user: only,
        isShared,
        isByName,
      } = table
        ? enterVendorPerson(table, key, hashes, {
            hasSeveral: before?.isShared === true,
            isAll,
            isByName: before?.isByName === true || earlier.length > 0,
          })
        : { user: hashes[0], isShared: hashes.length > 1, isByName: earlier.length > 0 };
      const [user] = known.keys();
      const devices = table && { id: key, hash: ledger.hash, table };
      // By facts that are gone it may have had a user under an earlier name, which others contradict.
      if (isJoinedUnknown(name) || (isByName && removedJoins)) {
        place(undefined);
        if (others.size > 0) report('removed_person', name, user === undefined ? others : known);
        return;
      }
      if (isShared) {
        // They may be one by a name that the facts at hand do not say, so that the devices are that user's. Of users that
        // only facts say which are gone, nobody would know it then.
        const areGone = isRemoving || (removedJoins !== undefined && known.size < 2);
        if (areGone || (!isAll && (isByName || mayBeOne))) place(undefined);
        if (user !== undefined && isTouched) report('several_users', name, known);
        return;
      }
      // By what was known before, nobody may have known its user.
      if (isRemoving && devices && !only) enterNames(hashDevices(), devices);
      if (isRemoving || ((removedJoins || earlier.length > 0) && only)) place(only);
      if (user === undefined) {
        const all = waiting.size === 0 ? others : new Map([...waiting, ...others]);
        // The ledger knows its user by hash alone: the facts that named it were removed.
        if (only && isOwn && others.size > 0) report('removed_person', name, others);
        else if (all.size > 1) report('no_user', name, all);
        return;
      }
      // The ledger has hashes of devices that were seen with the person before its user was: the facts were removed.
      if (removedJoins && devices && !areAllNames(hashDevices(), devices))
        report('removed_person', name, known);
      if (earlier.length > 0) {
        const hash = ledger.hash.id(JSON.stringify(earlier)).toString('hex');
        for (const id of new Set([...others.keys(), ...waiting.keys()]))
          if (id !== user) facts.write({ kind: 'named', id, name: hash });
      }
      // Of a user that only records name whose facts do not count, nothing is merged.
      const isHeard = isHeardTime(known.get(user) ?? '');
      const toTime = (time: string) => (isHeard ? toHeardTime(time) : time);
      for (const [anonId, time] of others)
        if (anonId !== user) facts.write({ kind: 'verdict', anonId, userId: user, time: toTime(time) });
      for (const [anonId, time] of waiting)
        if (anonId !== user)
          facts.write({ kind: 'waiting_verdict', anonId, userId: user, time: toTime(time) });

      function hashDevices(): ReadonlySet<string> {
        const ids = [...others.keys(), ...waiting.keys()].filter((id) => !users.has(id));
        return new Set(ids.map((id) => ledger.hash.id(id).toString('hex')));
      }

      function place(as: Buffer | undefined): void {
        const of = { person: key.toString('hex'), user: as?.toString('hex') };
        for (const id of [...others.keys(), ...waiting.keys()])
          if (!users.has(id)) facts.write({ kind: 'placed', id, ...of });
      }
    }
  }
  await tables.save(open);
  await facts.flush();
  return facts.saved;

  async function* loadMembers() {
    /** By key, what is added to each of their facts. */
    const known = new Map<string, Pick<Link, 'isKnown' | 'isWaiting'>>();
    async function* listAll() {
      yield* listFacts();
      yield* moved.saved;
      for (const index of movedWaiting.saved) yield note({ ...index, isWaiting: true });
      for (const list of [listKnown(), movedKnown.saved]) for await (const index of list) yield note(index);
    }
    function note(index: KnownFacts): FactsIndex {
      known.set(index.key, { isKnown: true, isWaiting: index.isWaiting ?? false });
      return index;
    }
    const kind: typeof MEMBERS = {
      ...MEMBERS,
      parseOf: (key) => {
        const marks = known.get(key);
        return marks ? (line) => ({ ...MEMBERS.parse(line), ...marks }) : MEMBERS.parse;
      },
    };
    for (const range of ranges)
      yield* loadFolds(kind, { staging, facts: listAll(), range, signal, limits, pace, pieceIds: PIECE_IDS });
  }

  function createWriter() {
    const saved: FactsIndex[] = [];
    let lines = new BucketLines();
    return {
      saved,
      write(fact: StoredFact) {
        writeFact(fact, lines);
      },
      async flush(above = 0) {
        if (lines.bytes <= above) return;
        saved.push(await saveLines(staging, toResolvedFactsKey(prefix, MEMBER_BUCKETS, objects), lines));
        objects += 1;
        lines = new BucketLines();
      },
    };
  }
}

const MEMBERS: FoldKind<Link, LinkFold> = {
  parse: FACTS.parse,
  getOrder: FACTS.getOrder,
  create: () => new LinkFold(),
  add: (fold, fact) => fold.add(fact),
  list: (fold) => fold.list(),
  getWeight: ({ weight }) => weight,
  getSize: ({ persons }) => persons.size,
};

function earliest(
  ids: ReadonlyMap<string, string>,
  renames: MemberStatements['renames'],
): ReadonlyMap<string, string> {
  if (renames.size === 0 && areSendable(ids)) return ids;
  const all = new Map<string, string>();
  for (const [one, time] of ids) {
    const id = renames.get(one)?.to ?? one;
    const known = all.get(id);
    if (!isJunkId(id)) all.set(id, known === undefined ? time : joinTimes(known, time));
  }
  return all;
}

function areSendable(ids: ReadonlyMap<string, string>): boolean {
  for (const id of ids.keys()) if (isJunkId(id)) return false;
  return true;
}

function toApart(
  reason: 'several_users' | 'no_user' | 'removed_person',
  id: string,
  ids: ReadonlyMap<string, string>,
) {
  const earliestFirst = [...ids].map(([one, time]) => `${time} ${one}`).sort();
  const users = earliestFirst.slice(0, USERS_SHOWN).map((text) => text.slice(text.indexOf(' ') + 1));
  return { reason, id, users, userCount: ids.size };
}

function areHeard(times: ReadonlyMap<string, string>): boolean {
  for (const time of times.values()) if (!isHeardTime(time)) return false;
  return true;
}
