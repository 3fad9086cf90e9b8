/** The first bytes of a stream, and the stream unconsumed: a fault is thrown after the bytes that preceded it. */
export interface Peeked {
  /** At least the bytes asked for, or all there are before the end or a fault. */
  readonly head: Buffer;
  readonly bytes: AsyncIterable<Buffer>;
  /** For when `bytes` will not be read. */
  readonly close: () => Promise<void>;
}

export async function peek(source: AsyncIterable<Buffer>, wantedBytes: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let size = 0;
  let fault: { readonly error: unknown } | undefined;
  try {
    while (size < wantedBytes) {
      const result = await iterator.next();
      if (result.done) break;
      chunks.push(result.value);
      size += result.value.length;
    }
  } catch (error) {
    if (size === 0) throw error;
    fault = { error };
  }
  const [first] = chunks;
  const head = first && chunks.length === 1 ? first : Buffer.concat(chunks);
  const close = async () => {
    await iterator.return?.();
  };
  return {
    head,
    close,
    bytes: (async function* () {
      try {
        if (head.length > 0) yield head;
        if (fault) throw fault.error;
        for (;;) {
          const result = await iterator.next();
          if (result.done) return;
          yield result.value;
        }
      } finally {
        await close();
      }
    })(),
  };
}
