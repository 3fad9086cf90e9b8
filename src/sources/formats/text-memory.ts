/**
 * Memory of text, given back as soon as nobody reads it any more. V8 finds out late by itself: a piece of text lives
 * for a few turns, by then it counts as old, and 50 MB of such pieces have to come together until V8 looks at old ones.
 */
const marked = new WeakSet<ArrayBufferLike>();

/** Says that this memory holds nothing but text, and that whoever fills it leaves it once it is full. */
export function markText({ buffer }: Buffer): void {
  marked.add(buffer);
}

/** The memory that ends with this text, where it was marked: it is full, and no other text of it comes later. */
export function getFilled({ buffer, byteOffset, length }: Buffer): ArrayBuffer | undefined {
  const isLast = byteOffset + length === buffer.byteLength;
  return isLast && marked.has(buffer) ? (buffer as ArrayBuffer) : undefined;
}

/** What is still read of it, is empty from now on. */
export function freeMemory(memory: ArrayBuffer[]): void {
  // Whoever transfers memory loses it; nobody keeps the copy.
  if (memory.length > 0) structuredClone(undefined, { transfer: memory });
}
