import { createHash } from 'node:crypto';
import type { Slice } from '../../contract/slice.ts';
import { SourceError } from '../../lib/errors.ts';
import type { SourceSlice } from '../../sources/source.ts';

/**
 * Small files share slices, and so jobs, parts and requests: a file by itself costs a job, a part, a receipt
 * and a request at least. A source of a few files keeps them apart, so that several can be staged at once.
 */
const GROUP_ABOVE_FILES = 32;
const SMALL_FILE_BYTES = 1024 * 1024;
/** Limits of a group, as stored: what one job stages, and starts again with when it is interrupted. */
const GROUP_MAX_BYTES = 32 * 1024 * 1024;
const GROUP_MAX_FILES = 1_000;

/** Small files that one job stages together, in the order of their names. Cut once, and then kept in staging. */
export interface SliceGroup extends Slice {
  readonly files: readonly SourceSlice[];
}

/** What one job stages. */
export type StagedSlice = SourceSlice | SliceGroup;

export const isGroup = (slice: StagedSlice): slice is SliceGroup => 'files' in slice;

/** The files that a slice stands for. */
export const listFiles = (slice: StagedSlice): readonly SourceSlice[] =>
  isGroup(slice) ? slice.files : [slice];

export const countFiles = (slice: StagedSlice): number => listFiles(slice).length;

/** A file as a migration records it. `slice`: the group that it is staged with; absent where it is by itself. */
type Recorded<F> = F & { readonly slice?: string | undefined };

/**
 * Decides once which files are staged together: those of a new migration, or those that a top-up adds, which
 * form groups of their own. `known`: files that the migration has already. Files with an unknown size are
 * windows of an API, and stay by themselves.
 */
export function assignSlices<F extends Pick<Slice, 'fileId' | 'bytes' | 'location'>>(
  files: readonly F[],
  known = 0,
): Recorded<F>[] {
  if (files.length + known <= GROUP_ABOVE_FILES) return [...files];
  const groupOf = new Map<F, string>();
  const open = new Map<Slice['location'], { members: F[]; bytes: number }>();
  const close = (location: Slice['location']) => {
    const { members = [] } = open.get(location) ?? {};
    open.delete(location);
    if (members.length < 2) return;
    const id = createGroupId(members);
    for (const member of members) groupOf.set(member, id);
  };
  for (const file of files) {
    if (file.bytes === 0 || file.bytes > SMALL_FILE_BYTES) continue;
    const { location, bytes } = file;
    const group = open.get(location);
    if (group && (group.members.length >= GROUP_MAX_FILES || group.bytes + bytes > GROUP_MAX_BYTES))
      close(location);
    const target = open.get(location) ?? { members: [], bytes: 0 };
    target.members.push(file);
    target.bytes += bytes;
    open.set(location, target);
  }
  for (const location of [...open.keys()]) close(location);
  return files.map((file) => {
    const slice = groupOf.get(file);
    return slice === undefined ? file : { ...file, slice };
  });
}

/** Of the members, so that the same files make the same group. */
const createGroupId = (members: readonly { readonly fileId: string }[]): string =>
  createHash('sha256')
    .update(members.map(({ fileId }) => fileId).join('\n'))
    .digest('hex')
    .slice(0, 12);

/**
 * The slices of a migration: its files as they were found, those that were recorded as a group together. A
 * member that is gone makes its group fail, and nothing else.
 */
export function toStagedSlices(
  recorded: readonly Recorded<Pick<Slice, 'fileId' | 'name' | 'bytes' | 'modified'>>[],
  found: readonly SourceSlice[],
): StagedSlice[] {
  const byId = new Map(found.map((file) => [file.fileId, file]));
  const groups = new Map<string, SourceSlice[]>();
  const slices: (StagedSlice | { readonly group: string })[] = [];
  const grouped = new Set<string>();
  for (const file of recorded) {
    const { fileId, slice } = file;
    if (slice === undefined) continue;
    grouped.add(fileId);
    const members = groups.get(slice);
    const member = byId.get(fileId) ?? toLost(file);
    if (members) members.push(member);
    else {
      groups.set(slice, [member]);
      slices.push({ group: slice });
    }
  }
  for (const file of found) if (!grouped.has(file.fileId)) slices.push(file);
  return slices.map((slice) =>
    'group' in slice ? toGroup(slice.group, groups.get(slice.group) ?? []) : slice,
  );
}

export const toGroup = (fileId: string, files: readonly SourceSlice[]): SliceGroup => ({
  fileId,
  name: nameGroup(files),
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  modified: '',
  location: files.some(({ location }) => location === 'shared') ? 'shared' : 'producer',
  files,
});

/** What messages call a group: its first and last file, and how many there are. */
export function nameGroup(files: readonly { readonly name: string }[]): string {
  const [first, last] = [files[0], files.at(-1)];
  if (!first || !last || first === last) return first?.name ?? '';
  return `${first.name} … ${last.name} (${files.length} files)`;
}

/** A file that was recorded and is gone. The producer has looked for it, so it is the one that says so. */
export const toLost = ({
  fileId,
  name,
  bytes,
  modified,
}: Pick<Slice, 'fileId' | 'name' | 'bytes' | 'modified'>): SourceSlice => ({
  fileId,
  name,
  bytes,
  modified,
  location: 'producer',
  readRecords: () =>
    failWith(
      `${name} is gone, and was not staged to its end: put it back, or a repaired one in its place, and resume; or run what is there as a migration with another name (events that are there already are not added twice)`,
    ),
});

const failWith = (message: string): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new SourceError(message)) }),
});
