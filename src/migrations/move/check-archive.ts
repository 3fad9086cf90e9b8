import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SourceError } from '../../lib/errors.ts';
import { type ArchiveSums, readArchive } from '../../state/archive/archive.ts';
import type { TarFile } from '../../state/archive/tar.ts';
import { layout } from '../../state/keys/migration.ts';
import { toPlacesKey } from '../../state/keys/shared.ts';
import { type ArchiveHead, archiveHead, isOfArchive } from './contents.ts';

const identity = z.looseObject({ id: z.string(), name: z.string() });

/**
 * Reads all of an archive, and returns what it holds. Throws SourceError where it is not exactly what an export wrote,
 * or holds what belongs to no migration that it names.
 */
export async function checkArchive(
  path: string,
  signal: AbortSignal,
): Promise<{ readonly head: ArchiveHead; readonly sums: ArchiveSums }> {
  const found: { head?: ArchiveHead } = {};
  const objects = readArchive(path, (head) => {
    const parsed = archiveHead.safeParse(head);
    if (!parsed.success)
      throw new SourceError('what it says of itself is not what Backhaul writes', parsed.error);
    found.head = parsed.data;
  });
  const records = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const next = await objects.next();
    const { head } = found;
    if (!head) throw new SourceError('it is empty');
    if (next.done) {
      assertAllRecords(head, records);
      return { head, sums: next.value };
    }
    checkObject(next.value, head, records);
  }
}

function checkObject(object: TarFile, head: ArchiveHead, records: Set<string>): void {
  const { name: key, body } = object;
  if (!isOfArchive(key, head))
    throw new SourceError(`${JSON.stringify(key)} in it belongs to none of its migrations`);
  for (const { id, name } of head.migrations) {
    if (key !== layout(name).record) continue;
    const record = parseRecord(body);
    if (record?.id !== id || record.name !== name)
      throw new SourceError(`${key} in it is the record of another migration`);
    records.add(name);
  }
  for (const sha256 of head.places)
    if (key === toPlacesKey(sha256) && createHash('sha256').update(body).digest('hex') !== sha256)
      throw new SourceError(`${key} in it is another file of places`);
}

function parseRecord(body: Buffer): z.infer<typeof identity> | undefined {
  try {
    return identity.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function assertAllRecords({ migrations }: ArchiveHead, records: ReadonlySet<string>): void {
  const missing = migrations.find(({ name }) => !records.has(name));
  if (missing) throw new SourceError(`the record of migration "${missing.name}" is missing in it`);
}
