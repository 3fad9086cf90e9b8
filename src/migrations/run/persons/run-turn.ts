import { countRefused, type SentRange } from '../../../identity/sent-range.ts';
import { raceAbort } from '../../../lib/async/abort.ts';
import { SourceError } from '../../../lib/errors.ts';
import { layout } from '../../../state/keys/migration.ts';
import type { Ledger } from '../../../state/ledger/ledger.ts';
import { saveVersions } from '../../../state/ledger/versions.ts';
import { addUpTurn } from '../../persons/add-up-turn.ts';
import { loadAttempts, reopenRefused } from '../../persons/attempts.ts';
import type { LedgerLock } from '../../persons/lock/ledger-lock.ts';
import { noteTurn, type TurnOf, waitForWire } from '../../persons/lock/on-wire.ts';
import { findOpenSender } from '../../persons/lock/open-sender.ts';
import { listNotedVersions } from '../../persons/noted-versions.ts';
import { findLost } from '../../persons/rebuild-ledger.ts';
import { listEndedEpochs, saveTurnPlan } from '../../persons/turn.ts';
import type { Failure } from '../scheduler.ts';
import { closeTurn } from './close-turn.ts';
import { connectTurn } from './connect-turn.ts';
import { findTurn, listSteps } from './find-turn.ts';
import type { Facts, PersonsRun } from './persons-run.ts';
import { cutRanges, runRanges } from './ranges.ts';

/**
 * One turn: each bucket decides which identities belong together, then the merges are sent, then what is known of the
 * persons. A step needs all of the one before.
 */
export async function runTurn(
  run: PersonsRun,
  lock: LedgerLock,
  ledger: Ledger,
  facts: Facts,
): Promise<Failure[]> {
  const { staging, record, persons } = run;
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
  await closeTurn(run, lock, ledger, facts, { turn, plan, attempts, result });
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
