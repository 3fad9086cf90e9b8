import type { RecordChunk } from '../../sources/formats/read-records.ts';
import type { SourceSlice } from '../../sources/source.ts';

/**
 * The records of a file until the signal is aborted, whose reason is then thrown: at the next piece of the source,
 * as half a megabyte that trickles in may take hours.
 */
export async function* readUntilAborted(
  slice: Pick<SourceSlice, 'readRecords'>,
  onBytes: (bytes: Buffer) => void,
  signal: AbortSignal,
): AsyncGenerator<RecordChunk> {
  const see = (bytes: Buffer) => {
    signal.throwIfAborted();
    onBytes(bytes);
  };
  try {
    for await (const chunk of slice.readRecords(see)) {
      signal.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted(); // in an archive the reason looks like a fault of it
    throw error;
  }
}
