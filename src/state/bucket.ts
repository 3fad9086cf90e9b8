/** Identity facts are stored by a hash of the id they are about, so that persons can be folded piece by piece. */
export const BUCKETS = 64;

/** Stored identity facts depend on it: another hash or number of buckets makes them unreadable. */
export const getBucket = (id: string): number => hash(id) % BUCKETS;

/** Which of `2 ** bits` slices of its bucket an id belongs to. Independent of the bucket's own bits. */
export const getBucketSlice = (id: string, bits: number): number =>
  Math.floor(hash(id) / BUCKETS) % 2 ** bits;

/** FNV-1a over UTF-16 units, then murmur's finaliser: FNV alone leaves similar ids in few buckets. */
function hash(id: string): number {
  let bits = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) {
    bits = Math.imul(bits ^ id.charCodeAt(index), 0x01000193);
  }
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
