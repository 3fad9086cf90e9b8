import { forgetLedger, type Ledger, loadKnownFacts, openLedger } from '../../../state/ledger/ledger.ts';
import { listMigrations } from '../../../state/migrations.ts';
import { emptyForRelease } from '../../persons/empty-for-release.ts';
import { assertKnownListed } from '../../persons/facts-of.ts';
import { loadPersons } from '../../persons/load-persons.ts';
import { assertNotKnownElsewhere } from '../../persons/project/known-elsewhere.ts';
import { assertOneProject } from '../../persons/project/ledger-destination.ts';
import { listReleasing, listSentElsewhere } from '../../persons/project/sent-elsewhere.ts';
import { rebuildWhereLost } from '../../persons/rebuild-ledger.ts';
import { findSent, takeIn, takeInOthers } from '../../persons/take-in.ts';
import { listEndedTurns } from '../../persons/turn.ts';
import type { Facts, PersonsRun } from './persons-run.ts';

/**
 * The ledger with all that it should know before a turn of this migration: what others have sent there, and what was
 * lost of it. Undefined where it knows these facts already, so that there is nothing to send.
 */
export async function prepareLedger(
  run: PersonsRun,
  ledger: Ledger,
  facts: Facts,
): Promise<Ledger | undefined> {
  const { staging, record, persons } = run;
  const { of, receipts } = facts;
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
    await assertNotKnownElsewhere(staging, record.name, persons.destination, ledger);
    run.log.warn(
      { migration: record.name },
      'identity facts of an earlier migration to this destination were removed; from now on nothing is merged there',
    );
    await forgetLedger(staging, ledger.id, run.now());
    return prepareLedger(run, await openLedger(staging, persons.resolveLedger()), facts);
  }
  if (await isKnown(run, ledger, facts)) return undefined;
  if (persons.hold && (await takeInReleased(run, ledger, facts)) === 'all') return undefined;
  return ledger;
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
  const releasing = await listReleasing(staging, await listMigrations(staging));
  const elsewhere = await listSentElsewhere(staging, ledger, record, releasing);
  const sent = await findSent(staging, ledger, record, { facts, elsewhere });
  if (sent === 'nothing') return sent;
  const onMigration = () => log.info({ migration: record.name }, 'taking what was released into account');
  await takeIn(
    record,
    { facts, receipts: receipts[of.indexOf(record.name)] ?? 0 },
    { staging, ledger, releasing, now, signal: schedulerDeps.signal, onMigration },
  );
  return sent;
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
