import type { Environment } from '../../../config/environment.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { loadControl } from '../../state/control.ts';
import { saveGivenUp } from '../../state/given-up.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { toState } from '../lifecycle.ts';
import { loadFamily } from '../rejects/family.ts';
import { listSentParts, type SentPart } from '../run/other-senders.ts';
import { countApart, type Uncompared } from '../run/unfolded.ts';
import { listUncompared } from './uncompared.ts';

export interface CompareOptions {
  /** Whether anything of the migration can be replayed once it is removed. */
  readonly keepRejects: boolean;
  readonly env: Environment;
}

/**
 * Before a migration is removed: throws ConfigError where one of its family, or itself, was given up after it may have
 * sent an event in the place of one that a removed record alone could send again. Keeps what it may have sent itself,
 * so that nothing that is sent later takes the place of that.
 */
export async function assertCompared(
  staging: Staging,
  record: MigrationRecord,
  { keepRejects, env }: CompareOptions,
): Promise<void> {
  const others: MigrationRecord[] = [];
  let own: readonly SentPart[] | undefined;
  for (const other of await loadFamily(staging, record)) {
    if (other.id === record.id) continue;
    others.push(other);
    if ((await loadControl(staging, other.name))?.state !== 'cancelled') continue;
    own ??= (await listSentParts(staging, record)).parts;
    for await (const uncompared of listUncompared(staging, other, env))
      await assertApart(staging, uncompared, { sender: other, delivered: own, removed: record });
  }

  if ((others.length === 0 && !keepRejects) || (await isOver(staging, record))) return;
  const delivered: SentPart[] = [];
  for (const other of others) delivered.push(...(await listSentParts(staging, other)).parts);
  // Of those that are gone nothing could be sent again, and what would have taken their place was not sent.
  const left = delivered.filter(({ isGone }) => !isGone);
  for await (const uncompared of listUncompared(staging, record, env)) {
    await assertApart(staging, uncompared, { sender: record, delivered: left, removed: record });
    const { part, givenUp } = uncompared;
    if (givenUp && givenUp.sections.length > 0) await saveGivenUp(staging, record.name, part, givenUp);
  }
}

/** Nothing of it was sent, or all of it was compared; or its removal has begun, and this was asked before. */
async function isOver(staging: Staging, record: MigrationRecord): Promise<boolean> {
  const state = toState(record, await loadControl(staging, record));
  return state === 'created' || state === 'finished' || state === 'removed';
}

interface Compared {
  /** Who may have sent these events. */
  readonly sender: MigrationRecord;
  readonly delivered: readonly SentPart[];
  readonly removed: MigrationRecord;
}

async function assertApart(
  staging: Staging,
  uncompared: Uncompared,
  { sender, delivered, removed }: Compared,
): Promise<void> {
  const count = await countApart(staging, uncompared, delivered);
  if (count === 0) return;
  const { name, replays } = sender;
  const orReplay =
    replays === undefined ? '' : `, or replay what it has left with "backhaul rejects replay ${replays}"`;
  throw new ConfigError(
    `migration "${name}" was given up before all that it may have sent was compared with what others have: the uuids of ${count} such events are those of delivered ones with other content, and without the records of "${removed.name}" nobody could send both. Finish it first with "backhaul resume ${name}"${orReplay}; or remove "${removed.name}" with --forget, where these may be missing`,
  );
}
