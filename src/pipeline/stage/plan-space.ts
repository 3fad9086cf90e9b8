import type { Packing } from '../../contract/part.ts';
import type { Slice } from '../../contract/slice.ts';
import type { Staging } from '../../contract/staging.ts';
import { listFiles, type StagedSlice } from './slice-groups.ts';

/** What parts come to, as a multiple of the bytes of their files; exports of JSON unpack to 7 to 10 times. */
const RATIOS: Readonly<Record<Packing, { readonly ofPacked: number; readonly ofPlain: number }>> = {
  none: { ofPacked: 10, ofPlain: 1.25 },
  brotli: { ofPacked: 1.25, ofPlain: 0.25 },
};
/** Left free for all else on the disk. */
const RESERVE_BYTES = 2 * 1024 ** 3;
const PACKED_NAME = /\.(?:gz|gzip|zip)$/i;

/** How the parts of some files are stored, and the space that they need. */
export interface StagingSpace {
  readonly packing: Packing;
  /** Estimated. */
  readonly bytes: number;
  /** Absent where space is not limited. */
  readonly freeBytes?: number;
}

/**
 * Parts are packed where their space is paid for, or short; else packing and unpacking them would be a quarter
 * of all the work of an import.
 */
export async function planSpace(
  staging: Pick<Staging, 'freeBytes'>,
  slices: readonly StagedSlice[],
): Promise<StagingSpace> {
  const files = slices.flatMap(listFiles);
  const freeBytes = await staging.freeBytes?.();
  const bytes = estimateBytes(files, 'none');
  if (freeBytes === undefined) return { packing: 'brotli', bytes: estimateBytes(files, 'brotli') };
  return bytes + RESERVE_BYTES <= freeBytes
    ? { packing: 'none', bytes, freeBytes }
    : { packing: 'brotli', bytes: estimateBytes(files, 'brotli'), freeBytes };
}

function estimateBytes(files: readonly Pick<Slice, 'name' | 'bytes'>[], packing: Packing): number {
  const { ofPacked, ofPlain } = RATIOS[packing];
  const sum = files.reduce(
    (total, { name, bytes }) => total + bytes * (PACKED_NAME.test(name) ? ofPacked : ofPlain),
    0,
  );
  return Math.ceil(sum);
}
