import type { Staging } from '../../../contract/staging.ts';
import type { BucketRange } from '../../../identity/load-folds.ts';
import { layout } from '../../../state/keys/migration.ts';
import { type SendStep, type TurnKeys, toRangeKey } from '../../../state/keys/turn.ts';
import type { Ledger } from '../../../state/ledger/ledger.ts';
import { loadTurnDocument, loadTurns, openTurn } from '../../../state/ledger/turns.ts';
import { digestKey, saveVersions } from '../../../state/ledger/versions.ts';
import { type Attempts, loadAttempts } from '../../persons/attempts.ts';
import { dropDamaged } from '../../persons/drop-damaged.ts';
import { listEndedEpochs, loadTurnPlan, saveTurnPlan, type TurnPlan } from '../../persons/turn.ts';
import type { Facts, PersonsRun } from './persons-run.ts';
import { countRanges, cutRanges } from './ranges.ts';

/**
 * The turn that this migration began last, where nobody has entered anything into the ledger since, the facts are the
 * same and so is what the ledger knows: its receipts and checkpoints hold. Else a new one, which decides again.
 */
export async function findTurn(
  { staging, record, persons, log, now }: PersonsRun,
  ledger: Ledger,
  { of, fingerprints, receipts, bytes }: Facts,
): Promise<{ turn: number; plan: TurnPlan }> {
  const purpose = persons.hold ? 'note' : 'send';
  const facts = [...fingerprints.values()].join();
  const { last, ended } = await loadTurns(staging, ledger.id);
  if (last > 0 && !ended.has(last)) {
    const document = await loadTurnDocument(staging, ledger.id, last);
    const plan =
      document?.migration === record.id ? await loadTurnPlan(staging, record.name, last) : undefined;
    const isOfThese = plan?.facts === facts && plan.of.join() === [...of].join();
    const isAtThis = plan?.ledger === ledger.id && isByHashesOf(ledger, plan);
    if (plan && isOfThese && plan.purpose === purpose && isAtThis) {
      for (const key of await dropDamaged(staging, record.name, last))
        log.warn({ migration: record.name, key }, 'working data of persons is lost or damaged; made again');
      // A producer that accepted its refusals may still be taking them back: nothing may be sent in it any more.
      const wasAccepted = (await listEndedEpochs(staging, record.name)).has(last);
      if (!wasAccepted || (await hasAllReceipts(staging, layout(record.name).atTurn(last), plan)))
        return { turn: last, plan };
    }
  }
  const plan: TurnPlan = {
    ledger: ledger.id,
    hashes: digestKey(ledger),
    purpose,
    of: [...of],
    facts,
    receipts: [...receipts],
    ranges: countRanges(bytes),
    mayHaveSent: false,
    ended: [...(await listEndedEpochs(staging, record.name)).keys()],
  };
  const document = { migration: record.id, name: record.name, at: now().toISOString() };
  const turn = await openTurn(staging, ledger.id, document, { releases: of });
  await saveVersions(staging, ledger);
  await saveTurnPlan(staging, record.name, turn, plan);
  return { turn, plan };
}

/** A ledger that has forgotten has other hashes: merges that were decided before hold no more. */
const isByHashesOf = (ledger: Ledger, { hashes }: TurnPlan): boolean =>
  hashes === undefined ? !ledger.isForgotten : hashes === digestKey(ledger);

/** The jobs of a turn, one after the other, and where the receipt of each range is. */
export function listSteps(keys: TurnKeys, { purpose }: TurnPlan, attempts: Attempts) {
  const resolving = ['resolve-people', (range: BucketRange) => toRangeKey(keys.resolved, range)] as const;
  const toSentKey = (step: SendStep) => (range: BucketRange) =>
    toRangeKey(keys[step], range, attempts(step, range));
  if (purpose === 'note') return [resolving];
  return [
    resolving,
    ['merge-people', toSentKey('merged')] as const,
    ['fold-people', toSentKey('folded')] as const,
  ];
}

async function hasAllReceipts(staging: Staging, keys: TurnKeys, plan: TurnPlan): Promise<boolean> {
  const attempts = await loadAttempts(staging, keys);
  for (const [, toReceiptKey] of listSteps(keys, plan, attempts)) {
    for (const range of cutRanges(plan.ranges)) if (!(await staging.get(toReceiptKey(range)))) return false;
  }
  return true;
}
