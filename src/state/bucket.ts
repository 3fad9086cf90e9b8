/** Identity facts are stored by a hash of the id they are about, so that persons can be folded piece by piece. */
export const BUCKETS = 64;

/** Stored identity facts depend on it: another hash or number of buckets makes them unreadable. */
export const getBucket = (id: string): number => hash(id) % BUCKETS;

/** Bits of an order below those of the bucket. */
export const ORDER_BITS = 24;
/** As many as one bucket has. */
export const ORDERS_OF_BUCKET = 2 ** ORDER_BITS;

/** The place of an id among all ids: a whole number whose first byte is the bucket. */
export function getOrder(id: string): number {
  const bits = hash(id);
  return (bits % BUCKETS) * ORDERS_OF_BUCKET + (bits >>> (32 - ORDER_BITS));
}

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
