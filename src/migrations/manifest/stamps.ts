import { z } from 'zod';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { TargetEvent } from '../../contract/event.ts';
import { createStamp, type Stamp, toOwnName } from '../../deliver/stamp.ts';
import type { MigrationRecord } from '../../state/migrations.ts';

const stampName = z.union([z.string(), z.literal(false)]);
/** What the identity of a migration says of its stamps; nothing where an earlier version began it. */
const pinned = z.object({
  source: z.object({ type: z.string() }),
  stamps: z.object({ importId: stampName, source: stampName }),
});

/**
 * The stamp of a migration; a replay, also one of a replay, carries that of the migration whose
 * records it sends, so that one filter finds all.
 * None for a migration of a version that stamped nothing: one half of its events would be found, and one not.
 */
export function createMigrationStamp({
  name,
  replays,
  stampedAs = replays,
  identity,
}: Pick<MigrationRecord, 'name' | 'replays' | 'stampedAs' | 'identity'>): Stamp | undefined {
  const { data } = pinned.safeParse(identity);
  return data && createManifestStamp({ ...data, name: stampedAs ?? name });
}

/** The stamps of a migration, for what is sent in its name; one of an earlier version continues without. */
export const readStamps = ({ identity }: Pick<MigrationRecord, 'identity'>): Manifest['stamps'] =>
  pinned.safeParse(identity).data?.stamps ?? { importId: false, source: false };

type Stamped = Pick<Manifest, 'stamps' | 'name'> & { readonly source: { readonly type: string } };

/** The stamp that a new migration would have. */
export function createManifestStamp({
  stamps: { importId, source: sourceName },
  source,
  name,
}: Stamped): Stamp | undefined {
  return createStamp({
    ...(importId === false ? {} : { [importId]: name }),
    ...(sourceName === false ? {} : { [sourceName]: source.type }),
  });
}

/** A stamped event, for plans. */
export function stampEvent(event: TargetEvent, { properties: stamped }: Stamp): TargetEvent {
  const has = (name: string) => Object.hasOwn(event.properties, name);
  const own = Object.entries(event.properties).map(([name, value]): [string, unknown] => [
    Object.hasOwn(stamped, name) ? toOwnName(name, has) : name,
    value,
  ]);
  return { ...event, properties: { ...Object.fromEntries(own), ...stamped } as TargetEvent['properties'] };
}
