import type { Redis } from 'ioredis';
import type { BucketRange } from '../../identity/load-folds.ts';
import { countRefused, type SentRange } from '../../identity/sent-range.ts';
import { settleWithin } from '../../lib/async/timeout.ts';
import { SourceError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { encodeDocument } from '../../state/document.ts';
import { layout, type SendStep, toRangeKey } from '../../state/keys.ts';
import {
  forgetLedger,
  type Ledger,
  type LedgerAccess,
  loadKnownFacts,
  openLedger,
  saveKnownFacts,
} from '../../state/ledger/ledger.ts';
import { endTurn, loadTurnDocument, loadTurns, openTurn } from '../../state/ledger/turns.ts';
import { saveVersions } from '../../state/ledger/versions.ts';
import { clearStaging } from '../../state/migrations.ts';
import { addUpTurn } from '../persons/add-up-turn.ts';
import { loadAttempts, reopenRefused } from '../persons/attempts.ts';
import { dropDamaged } from '../persons/drop-damaged.ts';
import { countFactBytes, fingerprintFacts } from '../persons/facts-of.ts';
import { assertOneProject, type LedgerDestination } from '../persons/ledger-destination.ts';
import { type LedgerLock, LedgerLockLostError, takeLedgerLock } from '../persons/ledger-lock.ts';
import { listNotedVersions } from '../persons/noted-versions.ts';
import { findLost, rebuildWhereLost } from '../persons/rebuild-ledger.ts';
import { withdrawRefused } from '../persons/refused-records.ts';
import { takeInOthers } from '../persons/take-in.ts';
import {
  type EndedTurn,
  listEndedEpochs,
  loadTurnPlan,
  saveTurnPlan,
  type TurnPlan,
} from '../persons/turn.ts';
import type { EpochRun } from './import-phase.ts';
import { countRanges, cutRanges, runRanges } from './persons-ranges.ts';
import type { Failure } from './scheduler.ts';

/** How a migration treats persons, and where. */
export interface PersonsSettings {
  /** The manifest holds them back. */
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

/** The facts that a turn is about. */
interface Facts {
  /** Migrations that they are of. */
  readonly of: readonly string[];
  readonly fingerprints: ReadonlyMap<string, string>;
  readonly bytes: number;
}

/**
 * Persons and groups, once every event is in, in one turn at the ledger of the destination: each bucket decides
 * which identities belong together, then the merges are sent, then what is known of the persons. A step needs
 * all of the one before.
 */
export async function sendPersons(run: PersonsRun): Promise<Failure[]> {
  const { staging, record, persons } = run;
  const of = record.releases ?? [record.name];
  const bytes = await countFactBytes(staging, of);
  if (bytes === 0) return [];
  const fingerprints = new Map<string, string>();
  for (const name of of) fingerprints.set(name, await fingerprintFacts(staging, name));

  const access = persons.resolveLedger();
  for (;;) {
    const lock = await takeLedgerLock(access.id, {
      redis: run.redis,
      migration: record,
      assertRunning: run.schedulerDeps.assertRunning,
      onWait: (holder) =>
        run.log.info({ migration: record.name }, `waiting until ${holder} has sent its persons there, too`),
      signal: run.schedulerDeps.signal,
    });
    try {
      return await takeTurn(run, lock, await openLedger(staging, access), { of, fingerprints, bytes });
    } catch (error) {
      if (!(error instanceof LedgerLockLostError)) throw error;
      run.log.warn({ migration: record.name }, 'another migration has taken the ledger; waiting for it');
    } finally {
      await settleWithin(lock.release(), REDIS_WITHIN_MS).catch(() => {});
    }
  }
}

async function takeTurn(run: PersonsRun, lock: LedgerLock, ledger: Ledger, facts: Facts): Promise<Failure[]> {
  const { staging, record, persons } = run;
  const { of, fingerprints } = facts;
  await assertOneProject(staging, record.name, persons.destination);
  await rebuildWhereLost(run, ledger);
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
    return takeTurn(run, lock, { ...ledger, isForgotten: true }, facts);
  }
  if (await isKnown(run, ledger, facts)) return [];

  const { turn, plan } = await findTurn(run, ledger, facts);
  const keys = layout(record.name).atTurn(turn);
  const ranges = cutRanges(plan.ranges);
  const attempts = await loadAttempts(staging, keys);
  const resolving = ['resolve-people', (range: BucketRange) => toRangeKey(keys.resolved, range)] as const;
  const toSentKey = (step: SendStep) => (range: BucketRange) =>
    toRangeKey(keys[step], range, attempts(step, range));
  const steps =
    plan.purpose === 'note'
      ? [resolving]
      : [
          resolving,
          ['merge-people', toSentKey('merged')] as const,
          ['fold-people', toSentKey('folded')] as const,
        ];
  run.board.personJobs.total = steps.length * ranges.length;
  for (const [job, toReceiptKey] of steps) {
    const failures = await runRanges(run, lock, { job, toReceiptKey, turn, ranges });
    if (failures.length > 0) return failures;
    await lock.assertHeld();
    await assertNothingLost(run, ledger);
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
    await withdrawRefused(staging, { keys, attempts, ledger: ledger.id, turn });
    await saveVersions(staging, ledger);
  }
  await endTurn(staging, ledger.id, turn);
  for (const [name, fingerprint] of fingerprints) {
    const state = plan.purpose === 'send' ? 'sent' : 'noted';
    await saveKnownFacts(staging, ledger.id, name, { facts: fingerprint, state });
    if (name !== record.name)
      await staging.put(layout(name).released, encodeDocument({ by: record.name, turn, facts: fingerprint }));
  }
  await clearStaging(staging, keys.prefix);
  return [];
}

/** Before the next step relies on it: what a step could not read it took for unknown. */
async function assertNothingLost({ staging, record }: PersonsRun, ledger: Ledger): Promise<void> {
  const lost = await findLost(staging, ledger);
  if (lost === undefined) return;
  throw new SourceError(
    `${staging.location} has lost ${lost} while it was used. "backhaul resume ${record.name}" makes what is known of persons at this destination again and continues`,
  );
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

/** Whether the ledger knows these very facts, and all that was to be sent of them was sent. */
async function isKnown({ staging, persons }: PersonsRun, ledger: Ledger, facts: Facts): Promise<boolean> {
  for (const [name, fingerprint] of facts.fingerprints) {
    const known = await loadKnownFacts(staging, ledger.id, name);
    if (known?.facts !== fingerprint) return false;
    if (known.state === 'noted' && !persons.hold) return false;
  }
  return true;
}

/**
 * The turn that this migration began last, where nobody has entered anything into the ledger since and the facts
 * are the same: its receipts and checkpoints hold. Else a new one, which decides again.
 */
async function findTurn(
  { staging, record, persons, log, now }: PersonsRun,
  ledger: Ledger,
  { of, fingerprints, bytes }: Facts,
): Promise<{ turn: number; plan: TurnPlan }> {
  const purpose = persons.hold ? 'note' : 'send';
  const facts = [...fingerprints.values()].join();
  const { last, ended } = await loadTurns(staging, ledger.id);
  if (last > 0 && !ended.has(last)) {
    const document = await loadTurnDocument(staging, ledger.id, last);
    const plan =
      document?.migration === record.id ? await loadTurnPlan(staging, record.name, last) : undefined;
    const isOfThese = plan?.facts === facts && plan.of.join() === [...of].join();
    if (plan && isOfThese && plan.purpose === purpose && plan.ledger === ledger.id) {
      for (const key of await dropDamaged(staging, record.name, last))
        log.warn({ migration: record.name, key }, 'working data of persons is lost or damaged; made again');
      return { turn: last, plan };
    }
  }
  const plan: TurnPlan = {
    ledger: ledger.id,
    purpose,
    of: [...of],
    facts,
    ranges: countRanges(bytes),
    ended: [...(await listEndedEpochs(staging, record.name)).keys()],
  };
  const turn = await openTurn(staging, ledger.id, {
    migration: record.id,
    name: record.name,
    at: now().toISOString(),
  });
  await saveVersions(staging, ledger);
  await saveTurnPlan(staging, record.name, turn, plan);
  return { turn, plan };
}
