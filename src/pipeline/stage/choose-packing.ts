import type { Packing } from '../../contract/part.ts';
import type { Slice } from '../../contract/slice.ts';
import type { Staging } from '../../contract/staging.ts';
import { isGroup, type StagedSlice } from './slice-groups.ts';

/** What text a packed file may hold: exports of JSON come to 7 to 10 times their size. */
const UNPACKED_RATIO = 10;
/** Lines of frames, and what is kept beside parts. */
const PLAIN_RATIO = 1.25;
/** Left free for all else on the disk. */
const RESERVE_BYTES = 2 * 1024 ** 3;
const PACKED_NAME = /\.(?:gz|gzip|zip)$/i;

/** What the parts of some files take up without being packed, in bytes, estimated. */
export const estimateUnpackedBytes = (files: readonly Pick<Slice, 'name' | 'bytes'>[]): number =>
  files.reduce(
    (sum, { name, bytes }) => sum + bytes * (PACKED_NAME.test(name) ? UNPACKED_RATIO : PLAIN_RATIO),
    0,
  );

/**
 * Parts are packed where their space is paid for, or short; else packing and unpacking them would be a quarter
 * of all the work of an import.
 */
export async function choosePacking(
  staging: Pick<Staging, 'freeBytes'>,
  slices: readonly StagedSlice[],
): Promise<Packing> {
  const freeBytes = await staging.freeBytes?.();
  const files = slices.flatMap((slice) => (isGroup(slice) ? slice.files : [slice]));
  return freeBytes !== undefined && estimateUnpackedBytes(files) + RESERVE_BYTES <= freeBytes
    ? 'none'
    : 'brotli';
}
