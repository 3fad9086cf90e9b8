import type { Redis } from 'ioredis';
import { type Connected, connectPersons } from '../../identity/connect/connect-persons.ts';
import { ID_WIDTH } from '../../identity/merges/id-entry.ts';
import { countRefused, type SentRange } from '../../identity/sent-range.ts';
import { raceAbort } from '../../lib/async/abort.ts';
import { settleWithin } from '../../lib/async/timeout.ts';
import { ConfigError, FencedOutError, SourceError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { BUCKETS } from '../../state/bucket.ts';
import { encodeDocument } from '../../state/document.ts';
import { isEpochOver } from '../../state/epochs.ts';
import { MEMBER_BUCKETS } from '../../state/facts/fact-line.ts';
import { layout } from '../../state/keys/migration.ts';
import { toRangeKey } from '../../state/keys/turn.ts';
import {
  forgetLedger,
  type Ledger,
  type LedgerAccess,
  loadKnownFacts,
  openLedger,
  saveKnownFacts,
} from '../../state/ledger/ledger.ts';
import { createLedgerTables } from '../../state/ledger/ledger-tables.ts';
import { endTurn } from '../../state/ledger/turns.ts';
import { saveVersions } from '../../state/ledger/versions.ts';
import { clearStaging } from '../../state/migrations.ts';
import { requireMigration } from '../life-store.ts';
import { addUpTurn } from '../persons/add-up-turn.ts';
import { loadAttempts, reopenRefused } from '../persons/attempts.ts';
import { emptyForRelease } from '../persons/empty-for-release.ts';
import {
  assertAllListed,
  assertKnownListed,
  countFactBytes,
  countReceipts,
  fingerprintFacts,
  haveSaidAll,
  listFacts,
  listOtherFacts,
} from '../persons/facts-of.ts';
import { isRemoved } from '../persons/facts-removed.ts';
import { findRemovedJoins, openEarlierIds } from '../persons/keep-links.ts';
import { atTurn } from '../persons/ledger-at-turn.ts';
import { assertOneProject, type LedgerDestination } from '../persons/ledger-destination.ts';
import { loadPersons } from '../persons/load-persons.ts';
import { type LedgerLock, LedgerLockLostError, takeProjectLock } from '../persons/lock/ledger-lock.ts';
import { noteTurn, type TurnOf, waitForWire } from '../persons/lock/on-wire.ts';
import { findOpenSender } from '../persons/lock/open-sender.ts';
import { listNotedVersions } from '../persons/noted-versions.ts';
import { findLost, rebuildWhereLost } from '../persons/rebuild-ledger.ts';
import { withdrawRefused } from '../persons/refused-records.ts';
import { assertSameAnswer } from '../persons/same-project.ts';
import { findSent, takeIn, takeInOthers } from '../persons/take-in.ts';
import {
  type EndedTurn,
  listEndedEpochs,
  listEndedTurns,
  noteRelease,
  saveTurnPlan,
  type TurnPlan,
} from '../persons/turn.ts';
import { type Facts, findTurn, listSteps } from './find-turn.ts';
import type { EpochRun } from './import-phase.ts';
import { cutRanges, runRanges } from './persons-ranges.ts';
import type { Failure } from './scheduler.ts';

/** How a migration treats persons, and where. */
export interface PersonsSettings {
  /** The manifest holds them back, or more records were rejected than it allows. */
  readonly hold: boolean;
  readonly destination: LedgerDestination | undefined;
  /** Throws ConfigError where this process does not know the project key. */
  readonly resolveLedger: () => LedgerAccess;
  /** Whether the migration may end although the destination refused some of what was sent. */
  readonly acceptRefusals: boolean;
}

export interface PersonsRun extends EpochRun {
  readonly redis: Redis;
  readonly log: Logger;
  readonly now: () => Date;
  readonly persons: PersonsSettings;
}

const REDIS_WITHIN_MS = 1_000;

/**
 * Persons and groups, once every event is in, in one turn at the ledger of the destination: each bucket decides
 * which identities belong together, then the merges are sent, then what is known of the persons. A step needs
 * all of the one before.
 */
export async function sendPersons(run: PersonsRun): Promise<Failure[]> {
  const { staging, record, persons } = run;
  const of = record.releases ?? [record.name];
  await assertNoneRemoved(run);
  const known = new Map([[record.name, run.board.parts.done]]);
  const receipts = await countReceipts(staging, of, known);
  const bytes = await countFactBytes(staging, of, receipts);
  if (bytes === 0) return [];
  const fingerprints = new Map<string, string>();
  for (const [at, name] of of.entries()) {
    const print = await fingerprintFacts(staging, await requireMigration(staging, name));
    assertAllListed(staging, name, { listed: print.receipts, known: receipts[at] ?? 0 });
    fingerprints.set(name, print.facts);
  }

  const access = persons.resolveLedger();
  for (;;) {
    const lock = await takeProjectLock(access, {
      redis: run.redis,
      migration: record,
      assertRunning: run.schedulerDeps.assertRunning,
      onWait: (holder) =>
        run.log.info({ migration: record.name }, `waiting until ${holder} has sent its persons there, too`),
      signal: run.schedulerDeps.signal,
    });
    try {
      // Of two that begin at once under two names of a project, the lock of its key lets one be the first.
      await assertSameAnswer(staging, access, persons.destination);
      return await takeTurn(run, lock, await openLedger(staging, access), {
        of,
        fingerprints,
        receipts,
        bytes,
      });
    } catch (error) {
      if (!(error instanceof LedgerLockLostError)) throw error;
      run.log.warn({ migration: record.name }, 'the lock of the ledger expired; waiting for it again');
    } finally {
      await settleWithin(lock.release(), REDIS_WITHIN_MS).catch(() => {});
    }
  }
}

/**
 * `rm` looks for releases once more after it has entered its state, and a release looks for that state after it has
 * its record: so one of the two finds the other, whichever came first.
 */
async function assertNoneRemoved({ staging, record }: PersonsRun): Promise<void> {
  const { name, releases = [] } = record;
  if (releases.length === 0 || (await listEndedTurns(staging, name)).length > 0) return; // it has sent them
  for (const held of releases) {
    if (!(await isRemoved(staging, held))) continue;
    const others = releases.filter((one) => one !== held);
    const next =
      others.length === 0 ? '' : `, then send those of the others: backhaul persons send ${others.join(' ')}`;
    throw new ConfigError(
      `migration "${held}" was removed before "${name}" had sent its persons, so "${name}" cannot go on. Cancel it with "backhaul cancel ${name}"${next}`,
    );
  }
}

async function takeTurn(run: PersonsRun, lock: LedgerLock, ledger: Ledger, facts: Facts): Promise<Failure[]> {
  const { staging, record, persons } = run;
  const { of, fingerprints, receipts } = facts;
  await assertOneProject(staging, record.name, persons.destination, ledger);
  await rebuildWhereLost(run, ledger);
  await emptyForRelease(run, ledger);
  for (const [at, name] of of.entries()) await assertKnownListed(staging, ledger.id, name, receipts[at] ?? 0);
  const others = await takeInOthers({
    staging,
    ledger,
    destination: persons.destination,
    except: new Set(of),
    now: run.now,
    signal: run.schedulerDeps.signal,
    onMigration: (name) => run.log.info({ migration: record.name }, `taking ${name} into account`),
  });
  if (others === 'facts_are_gone' && !ledger.isForgotten) {
    run.log.warn(
      { migration: record.name },
      'identity facts of an earlier migration to this destination were removed; from now on nothing is merged there',
    );
    await forgetLedger(staging, ledger.id, run.now());
    return takeTurn(run, lock, await openLedger(staging, persons.resolveLedger()), facts);
  }
  if (await isKnown(run, ledger, facts)) return [];
  if (persons.hold && (await takeInReleased(run, ledger, facts)) === 'all') return [];

  const { turn, plan } = await findTurn(run, ledger, facts);
  await lock.enterTurn(turn);
  const self = { migration: record.id, name: record.name, turn };
  const sender = plan.mayHaveSent === false ? await findOpenSender(staging, ledger.id, turn) : self;
  await raceAbort(noteTurn(run.redis, ledger, turn, sender), run.schedulerDeps.signal);
  const keys = layout(record.name).atTurn(turn);
  const ranges = cutRanges(plan.ranges);
  await connectTurn(run, ledger, turn, plan);
  const attempts = await loadAttempts(staging, keys);
  const steps = listSteps(keys, plan, attempts);
  Object.assign(run.board.personJobs, { done: 0, total: steps.length * ranges.length });
  for (const [job, toReceiptKey] of steps) {
    // Before the first merge goes out: where another turn comes now, nobody knows what was sent in this one.
    if (job === 'merge-people') await waitForOthers(run, lock, ledger, self);
    if (job !== 'resolve-people' && plan.mayHaveSent === false)
      await saveTurnPlan(staging, record.name, turn, { ...plan, mayHaveSent: true });
    const failures = await runRanges(run, lock, { job, toReceiptKey, turn, ranges });
    if (failures.length > 0) return failures;
    await lock.assertHeld();
    await assertNothingLost(run, ledger, turn);
    // What is lost while the turn is open is missed when it is continued.
    await saveVersions(staging, ledger, await listNotedVersions(staging, ledger.id));
  }

  const result = await addUpTurn(staging, keys, attempts);
  // Once accepted, a refusal stays accepted: the ledger may have taken it back already.
  const wasAccepted = persons.acceptRefusals || (await listEndedEpochs(staging, record.name)).has(turn);
  if (countRefused(result) > 0 && !wasAccepted) {
    await reopenRefused(staging, keys, ranges, attempts);
    return [toRefusal(record.name, result)];
  }
  const ended: EndedTurn = {
    turn,
    purpose: plan.purpose,
    of: [...of],
    facts: fingerprints.get(record.name) ?? '',
    result,
  };
  await staging.put(layout(record.name).endedTurn(turn, run.epoch), encodeDocument(ended));
  await lock.assertHeld();
  if (countRefused(result) > 0 || (result.people.setAside.merged_user ?? 0) > 0) {
    const assertInForce = () => assertNewestEpoch(run);
    await withdrawRefused(staging, { keys, attempts, ledger: ledger.id, turn, assertInForce });
    await saveVersions(staging, ledger);
  }
  await endTurn(staging, ledger.id, turn);
  for (const [at, [name, fingerprint]] of [...fingerprints].entries()) {
    const state = plan.purpose === 'send' ? 'sent' : 'noted';
    await saveKnownFacts(staging, ledger.id, await requireMigration(staging, name), {
      facts: fingerprint,
      state,
      receipts: receipts[at],
    });
    if (name !== record.name) await noteRelease(staging, name, { by: record.name, turn, facts: fingerprint });
  }
  await clearStaging(staging, keys.prefix);
  return [];
}

/** What another turn has on the wire would arrive behind what this one sends. */
async function waitForOthers(
  { redis, record, board, log, schedulerDeps: { assertRunning, signal } }: PersonsRun,
  lock: LedgerLock,
  ledger: Ledger,
  of: TurnOf,
): Promise<void> {
  let isShown = false;
  try {
    await waitForWire(ledger, of, {
      redis,
      signal,
      onWait({ name }, until) {
        const what = `a request about persons that ${name} sent and that may still arrive, until ${new Date(until).toISOString()} at the latest`;
        log.info({ migration: record.name }, `waiting for ${what}`);
        board.setWaitingFor(what);
        isShown = true;
      },
      async assertRunning() {
        await assertRunning();
        await lock.assertHeld();
      },
    });
  } finally {
    if (isShown) board.setWaitingFor(undefined);
  }
}

/** What the vendor says of persons, as pairs, before the ids of all ranges are resolved by them. */
async function connectTurn(
  { staging, record, epoch, schedulerDeps: { signal } }: PersonsRun,
  ledger: Ledger,
  turn: number,
  { of, purpose, receipts }: TurnPlan,
): Promise<void> {
  const keys = layout(record.name).atTurn(turn);
  const key = toRangeKey(keys.connected, MEMBER_BUCKETS);
  if (await staging.get(key)) return;
  const tables = createLedgerTables(staging, ledger.id, 'ids', ID_WIDTH);
  const earlierIds = openEarlierIds(staging, ledger);
  const connected = await connectPersons({
    staging,
    prefix: keys.factsBy(`${epoch}-connected`),
    listFacts: () => listFacts(staging, of, receipts),
    listKnown: () => listOtherFacts(staging, ledger.id, of),
    isAll: await haveSaidAll(staging, ledger.id, of),
    removedJoins: () => findRemovedJoins(staging, ledger),
    earlierIds,
    ledger: await atTurn(ledger, staging, turn, purpose),
    tables,
    signal,
  });
  const noting: Connected = {
    ...connected,
    versions: tables.listVersions(0, BUCKETS),
    earlierIds: earlierIds.listVersions(0, BUCKETS),
  };
  await staging.create(key, encodeDocument(noting));
}

/**
 * What others have sent of persons that are held: a ledger that was made again knows nothing of it, and this turn will
 * only note them.
 */
async function takeInReleased(
  { staging, record, log, now, schedulerDeps }: PersonsRun,
  ledger: Ledger,
  { of, fingerprints, receipts }: Facts,
): Promise<'all' | 'something' | 'nothing'> {
  const facts = fingerprints.get(record.name) ?? '';
  const sent = await findSent(staging, ledger, record, facts);
  if (sent === 'nothing') return sent;
  const onMigration = () => log.info({ migration: record.name }, 'taking what was released into account');
  await takeIn(
    record,
    { facts, receipts: receipts[of.indexOf(record.name)] ?? 0 },
    { staging, ledger, now, signal: schedulerDeps.signal, onMigration },
  );
  return sent;
}

/** Before the next step relies on it: what a step could not read it took for unknown. */
async function assertNothingLost(
  { staging, record }: PersonsRun,
  ledger: Ledger,
  turn: number,
): Promise<void> {
  const lost = await findLost(staging, ledger, turn);
  if (lost === undefined) return;
  throw new SourceError(
    `${staging.location} has lost ${lost} while it was used. "backhaul resume ${record.name}" makes what is known of persons at this destination again and continues`,
  );
}

/** Throws FencedOutError where a later producer has the migration: it may have sent the same in the same turn. */
async function assertNewestEpoch({ staging, record, epoch }: PersonsRun): Promise<void> {
  if (await isEpochOver(staging, record, epoch))
    throw new FencedOutError(`epoch ${epoch} of ${record.name} is over`);
}

function toRefusal(name: string, result: SentRange): Failure {
  const count = countRefused(result);
  const [first] = result.refused;
  const example = first ? `, such as ${first.event} of ${first.distinctId}: ${first.detail}` : '';
  return {
    work: { id: 'all', name: 'persons', payload: {} },
    reason:
      `the destination refused ${count} event${count === 1 ? '' : 's'} about persons and groups${example}. ` +
      `"backhaul resume ${name}" sends them again; "backhaul resume ${name} --accept-refusals" ends without them`,
  };
}

/**
 * Whether the ledger knows these very facts, and all that was to be sent of them was sent. Where persons are held, a
 * turn of the migration's own must say so: another migration that took it in has noted its facts, but holds nothing. What
 * is released must say that it was.
 */
async function isKnown(
  { staging, record, persons }: PersonsRun,
  ledger: Ledger,
  facts: Facts,
): Promise<boolean> {
  for (const [name, fingerprint] of facts.fingerprints) {
    const known = await loadKnownFacts(staging, ledger.id, name);
    if (known?.facts !== fingerprint) return false;
    if (known.state === 'sent') {
      // Its release noted that last: one that was cut off in between decides once more, and notes it then.
      if (name !== record.name && (await loadPersons(staging, name)).isHeld) return false;
      continue;
    }
    const last = persons.hold ? (await listEndedTurns(staging, name)).at(-1) : undefined;
    if (last?.purpose !== 'note' || last.facts !== fingerprint) return false;
  }
  return true;
}
