/** Findings are kept apart by a hash of the id they are about, so that people can be folded piece by piece. */
export const BUCKETS = 64;

/** Stored findings rely on it: changing the hash or the number makes them unreadable. */
export const bucketOf = (id: string): number => hashOf(id) % BUCKETS;

/** Which of `2 ** bits` slices of its bucket an id belongs to. Independent of the bucket's own bits. */
export const getBucketSlice = (id: string, bits: number): number =>
  Math.floor(hashOf(id) / BUCKETS) % 2 ** bits;

/** FNV-1a over UTF-16 units, then murmur's finaliser: FNV alone leaves similar ids in few buckets. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
