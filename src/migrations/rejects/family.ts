import type { Staging } from '../../contract/staging.ts';
import { listMigrations, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { parseReplayName } from '../derived-name.ts';

/**
 * The migration that events name in their stamp, and all replays that carry the same stamp. Where that migration was
 * forgotten, the replays alone, `record` first: they still share their uuids.
 */
export async function loadFamily(
  staging: Staging,
  record: MigrationRecord,
): Promise<readonly [MigrationRecord, ...MigrationRecord[]]> {
  const stamp = getRoot(record);
  const named = await loadMigration(staging, stamp);
  const root = named && (named.id === record.id || isOf(record, named)) ? named : undefined;
  const first = root ?? record;
  const replays: MigrationRecord[] = [];
  for (const name of await listMigrations(staging)) {
    if (name === stamp || name === first.name || parseReplayName(name) === undefined) continue;
    const other = await loadMigration(staging, name);
    if (!other || getRoot(other) !== stamp) continue;
    const isOther = root ? !isOf(other, root) : named !== undefined && isReplayOf(other, named);
    if (!isOther) replays.push(other);
  }
  return [first, ...replays];
}

/** The migration whose rejects a replay sends, where that is a replay the one before it, and so on. */
export async function* listAncestors(
  staging: Staging,
  replay: MigrationRecord,
): AsyncGenerator<MigrationRecord> {
  for (let of = await loadOrigin(staging, replay); of; of = await loadOrigin(staging, of)) yield of;
}

/** Undefined also where another migration has its name by now. */
async function loadOrigin(
  staging: Staging,
  { replays, replaysId }: MigrationRecord,
): Promise<MigrationRecord | undefined> {
  const origin = replays === undefined ? undefined : await loadMigration(staging, replays);
  return origin && (replaysId ?? origin.id) === origin.id ? origin : undefined;
}

/** Another migration may have had the name before. */
const isOf = (replay: MigrationRecord, root: MigrationRecord): boolean =>
  replay.replays !== root.name || isReplayOf(replay, root);

const isReplayOf = ({ replays, replaysId }: MigrationRecord, { id, name }: MigrationRecord): boolean =>
  replays === name && (replaysId ?? id) === id;

const getRoot = ({ name, replays, stampedAs = replays }: MigrationRecord): string => stampedAs ?? name;
