import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listOtherParts } from '../run/other-senders.ts';
import { countApart, listUnfolded } from '../run/unfolded.ts';
import type { Replay } from './replayed.ts';

/**
 * What a cancelled replay has sent is in its books, and no other one sends it again. Throws ConfigError where nobody
 * compared it with what others have sent, and an event of it has the uuid of another one: the destination has one of the
 * two, and only the replay that ends finds the other. Once another replay takes over, it cannot be continued.
 */
export async function assertFolded(staging: Staging, replays: readonly Replay[]): Promise<void> {
  const takenOver = new Set(replays.flatMap(({ record }) => record.takesOver ?? []));
  for (const { record, state } of replays) {
    if (state !== 'cancelled' || takenOver.has(record.name)) continue;
    const count = await countUnfoldedApart(staging, record);
    if (count === 0) continue;
    const { name } = record;
    throw new ConfigError(
      `migration "${name}" was cancelled before what it had sent was compared with what others have: the uuids of ${count} such events are those of delivered ones with other content, so one of each two is missing. Finish it first with "backhaul resume ${name}", and replay what it rejects with "backhaul rejects replay ${name}"`,
    );
  }
}

async function countUnfoldedApart(staging: Staging, record: MigrationRecord): Promise<number> {
  let others: Awaited<ReturnType<typeof listOtherParts>> | undefined;
  let count = 0;
  for await (const unfolded of listUnfolded(staging, record.name)) {
    others ??= await listOtherParts(staging, record);
    count += await countApart(staging, unfolded, others);
  }
  return count;
}
