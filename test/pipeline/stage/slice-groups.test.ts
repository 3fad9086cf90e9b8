import { describe, expect, it } from 'vitest';
import type { Slice } from '../../../src/contract/slice.ts';
import {
  assignSlices,
  countFiles,
  isGroup,
  nameGroup,
  toStagedSlices,
} from '../../../src/pipeline/stage/slice-groups.ts';
import { createFileId } from '../../../src/sources/files/source-file.ts';
import type { SourceSlice } from '../../../src/sources/source.ts';

const MIB = 1024 * 1024;
const file = (name: string, more: Partial<Slice> = {}): SourceSlice => ({
  fileId: createFileId(name),
  name,
  bytes: 100,
  modified: 'e',
  location: 'producer',
  async *readRecords() {},
  ...more,
});
const files = (count: number, more: Partial<Slice> = {}, prefix = 'f') =>
  Array.from({ length: count }, (_, index) => file(`${prefix}${index}`, more));
const groupSizes = (assigned: readonly { slice?: string | undefined }[]) => {
  const sizes = new Map<string | undefined, number>();
  for (const { slice } of assigned) sizes.set(slice, (sizes.get(slice) ?? 0) + 1);
  return [...sizes].map(([slice, size]) => (slice === undefined ? `${size} alone` : size));
};

describe('small files', () => {
  it('are staged one by one up to 32 of them, and together from 33', () => {
    expect(groupSizes(assignSlices(files(32)))).toEqual(['32 alone']);
    expect(groupSizes(assignSlices(files(33)))).toEqual([33]);
  });

  it('share a group up to 1,000 files, in the order they came', () => {
    const assigned = assignSlices(files(2_001));
    expect(groupSizes(assigned)).toEqual([1_000, 1_000, '1 alone']);
    expect(assigned[999]?.slice).toBe(assigned[0]?.slice);
    expect(assigned[1_000]?.slice).not.toBe(assigned[0]?.slice);
  });

  it('share a group up to 32 MiB, and a file of more than 1 MiB is by itself', () => {
    expect(groupSizes(assignSlices(files(65, { bytes: MIB })))).toEqual([32, 32, '1 alone']);
    expect(groupSizes(assignSlices(files(40, { bytes: MIB + 1 })))).toEqual(['40 alone']);
    const mixed = [...files(20), file('large', { bytes: 5 * MIB }), ...files(20, {}, 'g')];
    expect(groupSizes(assignSlices(mixed))).toEqual([40, '1 alone']);
  });

  it('of unknown size are windows of an API, and those of another place go by another queue', () => {
    expect(groupSizes(assignSlices(files(40, { bytes: 0 })))).toEqual(['40 alone']);
    const both = [...files(20), ...files(20, { location: 'shared' }, 'g')];
    const assigned = assignSlices(both);
    expect(groupSizes(assigned)).toEqual([20, 20]);
    const slices = toStagedSlices(assigned, both);
    expect(slices.map(({ location }) => location)).toEqual(['producer', 'shared']);
  });

  it('make the same groups each time, and those of a top-up are other groups', () => {
    const first = assignSlices(files(40));
    const ids = (assigned: typeof first) => assigned.map(({ slice }) => slice);
    expect(ids(assignSlices(files(40)))).toEqual(ids(first));
    const added = assignSlices(files(2, {}, 'late'), 40);
    expect(groupSizes(added)).toEqual([2]);
    expect(added[0]?.slice).not.toBe(first[0]?.slice);
    expect(added[0]?.slice).toMatch(/^[0-9a-f]{12}$/);
    expect(groupSizes(assignSlices(files(1, {}, 'late'), 40))).toEqual(['1 alone']);
  });
});

describe('the slices of a migration', () => {
  it('are its groups with the files as they were found, and its other files', () => {
    const found = [...files(40), file('large', { bytes: 5 * MIB })];
    const slices = toStagedSlices(assignSlices(found), found);
    expect(slices.map(countFiles)).toEqual([40, 1]);
    const [group] = slices;
    if (!group || !isGroup(group)) throw new Error('no group');
    expect(group).toMatchObject({ name: 'f0 … f39 (40 files)', bytes: 4_000, location: 'producer' });
    expect(group.files).toEqual(found.slice(0, 40));
    expect(nameGroup(files(1))).toBe('f0');
  });

  it('are the files themselves where version 0.1.0 recorded no groups', () => {
    const found = files(40);
    expect(toStagedSlices(files(40), found)).toEqual(found);
  });

  it('fail with the name of a member that is gone', async () => {
    const [gone, ...found] = files(40);
    const [group] = toStagedSlices(assignSlices(files(40)), found);
    if (!group || !isGroup(group)) throw new Error('no group');
    expect(group.files).toHaveLength(40);
    const read = async () => {
      for await (const _ of group.files[0]?.readRecords() ?? []);
    };
    await expect(read()).rejects.toThrow(`${gone?.name} is gone, and was not staged to its end`);
  });
});
