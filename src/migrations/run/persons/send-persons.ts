import { settleWithin } from '../../../lib/async/timeout.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { openLedger } from '../../../state/ledger/ledger.ts';
import { requireMigration } from '../../life-store.ts';
import { assertAllListed, countFactBytes, countReceipts, fingerprintFacts } from '../../persons/facts-of.ts';
import { isRemoved } from '../../persons/facts-removed.ts';
import { LedgerLockLostError, takeProjectLock } from '../../persons/lock/ledger-lock.ts';
import { assertSameAnswer } from '../../persons/project/same-project.ts';
import { listEndedTurns } from '../../persons/turn.ts';
import type { Failure } from '../scheduler.ts';
import type { Facts, PersonsRun } from './persons-run.ts';
import { prepareLedger } from './prepare-ledger.ts';
import { runTurn } from './run-turn.ts';

const REDIS_WITHIN_MS = 1_000;

/** Sends persons and groups, once every event is in, in one turn at the ledger of the destination. */
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
      const facts: Facts = { of, fingerprints, receipts, bytes };
      const ledger = await prepareLedger(run, await openLedger(staging, access), facts);
      return ledger ? await runTurn(run, lock, ledger, facts) : [];
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
