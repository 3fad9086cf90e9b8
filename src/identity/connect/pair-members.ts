import { isHeardTime, joinTimes, toHeardTime } from '../../contract/heard-time.ts';
import { cutPersonOf } from '../../contract/identity-fact.ts';
import type { FactsIndex } from '../../contract/progress.ts';
import { isJunkId } from '../../sources/mapping/identity.ts';
import { BucketLines } from '../../state/facts/bucket-lines.ts';
import { MEMBER_BUCKETS, type StoredFact, toVendorId, writeFact } from '../../state/facts/fact-line.ts';
import { saveLines } from '../../state/facts/fact-object.ts';
import { toResolvedFactsKey } from '../../state/keys/turn.ts';
import type { KeyedHash } from '../../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../../state/ledger/record-table.ts';
import { FACTS, type FoldKind, loadFolds, PIECE_IDS } from '../load-folds.ts';
import { areAllNames, enterNames } from '../merges/earlier-names.ts';
import { enterVendorPerson } from '../merges/id-entry.ts';
import type { UserTimes } from '../merges/user-times.ts';
import type { UserSeen } from '../merges/users-seen.ts';
import { addUnmerged, countActive, type PersonsTally, USERS_SHOWN } from '../persons-tally.ts';
import type { Accepted } from './accept-renames.ts';
import type { Context, KnownFacts } from './context.ts';
import { type FormerUsers, loadFormerUsers } from './former-names.ts';
import { type JoinedPersons, type Link, LinkFold, listIds, type VendorPerson } from './link-fold.ts';
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
  statements: MemberStatements,
  context: Context,
  people: PersonsTally,
): Promise<FactsIndex[]> {
  const { joined } = statements;
  const { ledger, tables, removedJoins, pace, limits, listFacts, listKnown } = context;
  const numbering = { objects: 0 };
  const facts = new MemberWriter(context, numbering);

  const moved = new MemberWriter(context, numbering);
  const movedKnown = new MemberWriter(context, numbering);
  const movedWaiting = new MemberWriter(context, numbering);
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

  const at: Deciding = { ...statements, ...context, people, facts, former, isJoinedUnknown, open: new Map() };
  let openBuckets: readonly number[] = [];
  for await (const { fold, buckets } of loadMembers()) {
    if (openBuckets !== buckets) {
      await tables.save(at.open);
      at.open = await tables.load(buckets.map((bucket) => bucket - MEMBER_BUCKETS.from));
      openBuckets = buckets;
    }
    const persons = fold.persons.entries();
    while (decideSome(persons, at)) {
      if (pace.isDue()) await pace.rest();
      await facts.flush(limits.foldBytes);
    }
    await facts.flush(limits.foldBytes);
  }
  await tables.save(at.open);
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
    const { staging, signal, ranges } = context;
    for (const range of ranges)
      yield* loadFolds(kind, { staging, facts: listAll(), range, signal, limits, pace, pieceIds: PIECE_IDS });
  }
}

/** What the persons have in common. */
interface Deciding
  extends MemberStatements,
    Pick<Context, 'ledger' | 'limits' | 'removedJoins' | 'isRemoving' | 'isAll'> {
  readonly people: PersonsTally;
  readonly facts: MemberWriter;
  readonly former: ReadonlyMap<string, FormerUsers>;
  readonly isJoinedUnknown: (person: string) => boolean;
  /** The ledger's tables of the buckets at hand. */
  open: ReadonlyMap<number, RecordTable>;
}

/** Persons between two calls of `isDue`. */
const PERSONS_AT_ONCE = 16;

/** False where none is left. In a function that awaits, V8 would make a list of each name and person. */
function decideSome(persons: Iterator<[string, VendorPerson]>, at: Deciding): boolean {
  for (let count = 0; count < PERSONS_AT_ONCE && at.facts.bytes <= at.limits.foldBytes; count += 1) {
    const next = persons.next();
    if (next.done) return false;
    const [name, person] = next.value;
    if (at.joined.find(name) === name) decidePerson(name, person, at);
  }
  return true;
}

function decidePerson(name: string, person: VendorPerson, at: Deciding): void {
  const { joinedHere, renames, people, facts, removedJoins, isRemoving = false, isAll = false } = at;
  const { hash } = at.ledger;
  const { users, others, waiting, isOwn } = person;
  const known = earliest(users, renames);
  const mayBeOne = users !== undefined && users.size > 1 && known.some(([user]) => at.mayHaveOther(user));
  const isTouched = isOwn || joinedHere.has(cutPersonOf(name)[0]);
  if (!isTouched && !mayBeOne) return;
  countActive(people, 'vendor', person.months);
  const key = hash.group(toVendorId(name));
  const table = at.open.get(key[0] ?? 0);
  const hashes = known.map(([user]) => hash.id(user));
  const before = at.former.get(name);
  if (before) hashes.push(...before.users);
  const earlier = renames.size === 0 ? NO_EARLIER : listEarlier(users, renames);
  const isOfName = before?.isByName === true || earlier.length > 0;
  const {
    user: only,
    isShared,
    isByName,
  } = table
    ? enterVendorPerson(table, key, hashes, {
        hasSeveral: before?.isShared === true,
        isAll,
        isByName: isOfName,
      })
    : { user: hashes[0], isShared: hashes.length > 1, isByName: earlier.length > 0 };
  const [user] = known[0] ?? [];
  const devices = table && { id: key, hash, table };
  // By facts that are gone it may have had a user under an earlier name, which others contradict.
  if (at.isJoinedUnknown(name) || (isByName && removedJoins)) {
    writePlaced(person, key, undefined, facts);
    if (others) report('removed_person', name, user === undefined ? others.list() : known, person, people);
    return;
  }
  if (isShared) {
    // They may be one by a name that the facts at hand do not say, so that the devices are that user's. Of users that
    // only facts say which are gone, nobody would know it then.
    const areGone = isRemoving || (removedJoins !== undefined && known.length < 2);
    if (areGone || (!isAll && (isByName || mayBeOne))) writePlaced(person, key, undefined, facts);
    if (user !== undefined && isTouched) report('several_users', name, known, person, people);
    return;
  }
  // By what was known before, nobody may have known its user.
  if (isRemoving && devices && !only) enterNames(hashDevices(person, hash), devices);
  if (isRemoving || ((removedJoins || earlier.length > 0) && only)) writePlaced(person, key, only, facts);
  if (user === undefined) {
    // The ledger knows its user by hash alone: the facts that named it were removed.
    if (only && isOwn && others) report('removed_person', name, listIds(others), person, people);
    else {
      const all = [...new Map([...listIds(waiting), ...listIds(others)])];
      if (all.length > 1) report('no_user', name, all, person, people);
    }
    return;
  }
  // The ledger has hashes of devices that were seen with the person before its user was: the facts were removed.
  if (removedJoins && devices && !areAllNames(hashDevices(person, hash), devices))
    report('removed_person', name, known, person, people);
  if (earlier.length > 0) {
    const named = hash.id(JSON.stringify(earlier)).toString('hex');
    for (const id of new Set(listOthers(person)))
      if (id !== user) facts.write({ kind: 'named', id, name: named });
  }
  // Of a user that only records name whose facts do not count, nothing is merged.
  const isHeard = isHeardTime(known[0]?.[1] ?? '');
  writeVerdicts('verdict', others, user, isHeard, facts);
  writeVerdicts('waiting_verdict', waiting, user, isHeard, facts);
}

function writeVerdicts(
  kind: 'verdict' | 'waiting_verdict',
  ids: UserTimes | undefined,
  userId: string,
  isHeard: boolean,
  facts: MemberWriter,
): void {
  for (const [anonId, time] of listIds(ids))
    if (anonId !== userId) facts.write({ kind, anonId, userId, time: isHeard ? toHeardTime(time) : time });
}

const listOthers = ({ others, waiting }: VendorPerson): string[] =>
  [...listIds(others), ...listIds(waiting)].map(([id]) => id);

function listDevices(person: VendorPerson): string[] {
  const { users } = person;
  return listOthers(person).filter((id) => !users?.has(id));
}

const hashDevices = (person: VendorPerson, hash: KeyedHash): ReadonlySet<string> =>
  new Set(listDevices(person).map((id) => hash.id(id).toString('hex')));

function writePlaced(person: VendorPerson, key: Buffer, as: Buffer | undefined, facts: MemberWriter): void {
  const of = { person: key.toString('hex'), user: as?.toString('hex') };
  for (const id of listDevices(person)) facts.write({ kind: 'placed', id, ...of });
}

/** Of a person whose records are all only heard, such as those outside a window, a report says nothing. */
function report(
  reason: 'several_users' | 'no_user' | 'removed_person',
  id: string,
  ids: readonly UserSeen[],
  { users, others, waiting }: VendorPerson,
  people: PersonsTally,
): void {
  if (areHeard(users) && areHeard(others) && areHeard(waiting)) return;
  const earliestFirst = ids.map(([one, time]) => `${time} ${one}`).sort();
  const shown = earliestFirst.slice(0, USERS_SHOWN).map((text) => text.slice(text.indexOf(' ') + 1));
  addUnmerged(people, { reason, id, users: shown, userCount: ids.length });
}

/** Writes facts into objects, which are numbered over all writers. */
class MemberWriter {
  readonly saved: FactsIndex[] = [];
  readonly #context: Context;
  readonly #numbering: { objects: number };
  #lines = new BucketLines();

  constructor(context: Context, numbering: { objects: number }) {
    this.#context = context;
    this.#numbering = numbering;
  }

  write(fact: StoredFact): void {
    writeFact(fact, this.#lines);
  }

  /** Of what is not saved. */
  get bytes(): number {
    return this.#lines.bytes;
  }

  async flush(above = 0): Promise<void> {
    if (this.bytes <= above) return;
    const { staging, prefix } = this.#context;
    const key = toResolvedFactsKey(prefix, MEMBER_BUCKETS, this.#numbering.objects);
    this.saved.push(await saveLines(staging, key, this.#lines));
    this.#numbering.objects += 1;
    this.#lines = new BucketLines();
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

/** Users that can be sent, by the ids that they have by now. */
function earliest(ids: UserTimes | undefined, renames: MemberStatements['renames']): readonly UserSeen[] {
  const users = listIds(ids);
  if (renames.size === 0 && areSendable(users)) return users;
  const all = new Map<string, string>();
  for (const [one, time] of users) {
    const id = renames.get(one)?.to ?? one;
    const known = all.get(id);
    if (!isJunkId(id)) all.set(id, known === undefined ? time : joinTimes(known, time));
  }
  return [...all];
}

function areSendable(users: readonly UserSeen[]): boolean {
  for (const [id] of users) if (isJunkId(id)) return false;
  return true;
}

const NO_EARLIER: readonly string[] = [];

const listEarlier = (users: UserTimes | undefined, renames: MemberStatements['renames']): readonly string[] =>
  listIds(users)
    .map(([id]) => id)
    .filter((id) => renames.has(id) && !isJunkId(id))
    .sort();

const areHeard = (ids: UserTimes | undefined): boolean => listIds(ids).every(([, time]) => isHeardTime(time));
