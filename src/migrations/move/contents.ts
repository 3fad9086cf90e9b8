import { z } from 'zod';
import { control } from '../../state/control.ts';
import { ledgerLayout } from '../../state/keys/ledger.ts';
import { layout, parseRecordKey } from '../../state/keys/migration.ts';
import { BUDGETS, toPlacesKey } from '../../state/keys/shared.ts';
import { ties } from './together.ts';

/* What an archive of migrations holds: see src/state/archive for its form. */

const name = z
  .string()
  .refine((text) => parseRecordKey(layout(text).record) === text && !text.includes('..'));
const ledger = z.string().regex(/^[0-9a-f]{32}$/);

const movedMigration = z.strictObject({
  id: z.string(),
  name,
  /** Number of the state that says that it was moved. */
  control: z.number().int().positive(),
  /** The state before that one. */
  before: control.pick({ state: true, reason: true }),
  /** The ledger of what a bundled API has accepted of it: that API does not move with it. */
  bundled: z.string().exactOptional(),
  ties: ties.extend({ name }),
});
export type MovedMigration = z.infer<typeof movedMigration>;

export const archiveHead = z.strictObject({
  /** Version of Backhaul. */
  writtenBy: z.string(),
  at: z.string(),
  migrations: z.array(movedMigration).min(1),
  /** Ledgers of their project, and fingerprints of its keys. */
  ledgers: z.array(ledger),
  /** Files of places that they pin, by digest. */
  places: z.array(z.string().regex(/^[0-9a-f]{64}$/)),
});
export type ArchiveHead = z.infer<typeof archiveHead>;

/** The beginnings of all keys of an archive, in key order; none is the beginning of another one. */
export const listPrefixes = ({ migrations, ledgers, places }: ArchiveHead): string[] =>
  [
    ...migrations.flatMap((one) => [layout(one.name).prefix, layout(one.name).record]),
    ...ledgers.map((id) => ledgerLayout(id).prefix),
    ...places.map(toPlacesKey),
    BUDGETS,
  ].sort();

/** What is of this staging alone: which ledgers are not here, and what operating systems leave in folders. */
export const isLeftOut = (key: string, { ledgers }: ArchiveHead): boolean =>
  key.includes('/.') || ledgers.some((id) => key === ledgerLayout(id).moved);

/** Whether an object may stand in the archive: everything else is refused before anything is written. */
export function isOfArchive(key: string, head: ArchiveHead): boolean {
  const isPlain = /^[!-~]+$/.test(key) && !key.includes('\\') && !key.split('/').some(isBadSegment);
  if (!isPlain || isLeftOut(key, head)) return false;
  return listPrefixes(head).some((prefix) =>
    prefix.endsWith('/') ? key.startsWith(prefix) : key === prefix,
  );
}

const isBadSegment = (segment: string) => segment === '' || segment === '.' || segment === '..';

/** What other migrations of a staging may share: it is created where it is missing, and never replaced. */
export const isShared = (key: string): boolean => key.startsWith('_places/') || key.startsWith(BUDGETS);
