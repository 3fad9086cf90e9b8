/** What a stream is by its first bytes. Extensions are unreliable: Amplitude's gzip members are called `.json`. */
export type Magic =
  | { readonly kind: 'plain' }
  | { readonly kind: 'gzip' }
  | { readonly kind: 'zip' }
  | { readonly kind: 'foreign'; readonly what: string; readonly advice: string };

/** A tar begins with the name of its first file. */
const TAR = { at: 257, text: 'ustar' };

export const MAGIC_BYTES = TAR.at + TAR.text.length;

const UNPACK = 'unpack it, or pack it as gzip';
const EXPORT = 'export it as JSON lines or CSV';

const FOREIGN: readonly (readonly [hex: string, what: string, advice: string])[] = [
  ['28b52ffd', 'zstd-compressed', UNPACK],
  ['425a68', 'bzip2-compressed', UNPACK],
  ['fd377a585a00', 'xz-compressed', UNPACK],
  ['04224d18', 'lz4-compressed', UNPACK],
  ['377abcaf271c', 'a 7-Zip archive', UNPACK],
  ['526172211a07', 'a RAR archive', UNPACK],
  ['50415231', 'a Parquet file', EXPORT],
  ['4f626a01', 'an Avro file', EXPORT],
  ['4f5243', 'an ORC file', EXPORT],
  ['53514c6974652066', 'an SQLite database', EXPORT],
];

const LONGEST = Math.max(...FOREIGN.map(([hex]) => hex.length / 2));

export function classifyMagic(head: Buffer): Magic {
  const hex = head.subarray(0, LONGEST).toString('hex');
  if (hex.startsWith('1f8b')) return { kind: 'gzip' };
  // The second one opens an archive without members.
  if (hex.startsWith('504b0304') || hex.startsWith('504b0506')) return { kind: 'zip' };
  for (const [magic, what, advice] of FOREIGN) {
    if (hex.startsWith(magic)) return { kind: 'foreign', what, advice };
  }
  if (head.toString('latin1', TAR.at, MAGIC_BYTES) === TAR.text) {
    return { kind: 'foreign', what: 'a tar archive', advice: 'unpack it, and name what it holds' };
  }
  return { kind: 'plain' };
}
