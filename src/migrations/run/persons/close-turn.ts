import { countRefused, type SentRange } from '../../../identity/sent-range.ts';
import { FencedOutError } from '../../../lib/errors.ts';
import { encodeDocument } from '../../../state/document.ts';
import { isEpochOver } from '../../../state/epochs.ts';
import { layout } from '../../../state/keys/migration.ts';
import { type Ledger, saveKnownFacts } from '../../../state/ledger/ledger.ts';
import { endTurn } from '../../../state/ledger/turns.ts';
import { saveVersions } from '../../../state/ledger/versions.ts';
import { clearStaging } from '../../../state/migrations.ts';
import { requireMigration } from '../../life-store.ts';
import type { Attempts } from '../../persons/attempts.ts';
import type { LedgerLock } from '../../persons/lock/ledger-lock.ts';
import { withdrawRefused } from '../../persons/refused-records.ts';
import { type EndedTurn, noteRelease, type TurnPlan } from '../../persons/turn.ts';
import type { Facts, PersonsRun } from './persons-run.ts';

/** A turn all of whose steps have their receipts. */
interface SentTurn {
  readonly turn: number;
  readonly plan: TurnPlan;
  readonly attempts: Attempts;
  readonly result: SentRange;
}

/** Enters what a turn came to into the ledger and into its migrations. */
export async function closeTurn(
  run: PersonsRun,
  lock: LedgerLock,
  ledger: Ledger,
  { of, fingerprints, receipts }: Facts,
  { turn, plan, attempts, result }: SentTurn,
): Promise<void> {
  const { staging, record } = run;
  const keys = layout(record.name).atTurn(turn);
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
}

/** Throws FencedOutError where a later producer has the migration: it may have sent the same in the same turn. */
async function assertNewestEpoch({ staging, record, epoch }: PersonsRun): Promise<void> {
  if (await isEpochOver(staging, record, epoch))
    throw new FencedOutError(`epoch ${epoch} of ${record.name} is over`);
}
