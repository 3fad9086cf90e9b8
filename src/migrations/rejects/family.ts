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
  const stamped = new Map([[record.name, record]]);
  for (const name of await listMigrations(staging)) {
    if (name === stamp || name === record.name || parseReplayName(name) === undefined) continue;
    const other = await loadMigration(staging, name);
    if (other && getRoot(other) === stamp) stamped.set(name, other);
  }
  const root =
    named && (named.id === record.id || isOfRoot(record, named, stamped) !== false) ? named : undefined;
  const first = root ?? record;
  const replays = [...stamped.values()].filter((other) => {
    if (other.name === first.name) return false;
    if (root) return isOfRoot(other, root, stamped) !== false;
    return named === undefined || isOfRoot(other, named, stamped) !== true;
  });
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

/**
 * Whether a replay is of this migration, at whatever number of replays between, and not of another one that had its name
 * before; undefined where a replay between is gone. `stamped`: all replays of the stamp.
 */
function isOfRoot(
  replay: MigrationRecord,
  root: MigrationRecord,
  stamped: ReadonlyMap<string, MigrationRecord>,
): boolean | undefined {
  let of = replay;
  for (const passed = new Set<string>(); of.replays !== root.name; passed.add(of.name)) {
    const next = of.replays === undefined || passed.has(of.name) ? undefined : stamped.get(of.replays);
    if (!next || !isReplayOf(of, next)) return undefined;
    of = next;
  }
  return isReplayOf(of, root);
}

const isReplayOf = ({ replays, replaysId }: MigrationRecord, { id, name }: MigrationRecord): boolean =>
  replays === name && (replaysId ?? id) === id;

const getRoot = ({ name, replays, stampedAs = replays }: MigrationRecord): string => stampedAs ?? name;
