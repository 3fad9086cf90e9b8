import type { FactsSection } from '../../contract/progress.ts';
import type { KnownFacts } from './context.ts';

/** Sections kept of one list, of 32 bytes each: a part has some 130, and is itself as large as sixteen. */
const SECTIONS_KEPT = 250_000;
const SECTIONS_OF_INDEX = 16;

type List<Index> = () => Iterable<Index> | AsyncIterable<Index>;

/**
 * The same list, which reads receipts once however often it is asked for; of more sections than are kept, each time.
 * Counts once a list came to its end.
 */
export function rememberFacts<Index extends KnownFacts>(
  list: List<Index>,
  sectionsKept: number = SECTIONS_KEPT,
): () => AsyncIterable<Index> {
  let kept: Packed<Index>[] | undefined;
  let isTooMany = false;
  return async function* () {
    if (kept) {
      for (const one of kept) yield unpack(one);
      return;
    }
    const listed: Packed<Index>[] = [];
    let sections = 0;
    for await (const index of list()) {
      sections += SECTIONS_OF_INDEX + index.sections.length;
      isTooMany ||= sections > sectionsKept;
      if (isTooMany) listed.length = 0;
      else listed.push(pack(index));
      yield index;
    }
    if (!isTooMany) kept = listed;
  };
}

/** An index with its sections as numbers, four for each, which take a quarter of the memory of objects. */
interface Packed<Index> {
  readonly index: Index;
  readonly numbers: Float64Array;
}

const NUMBERS = 4;

function pack<Index extends KnownFacts>(index: Index): Packed<Index> {
  const numbers = new Float64Array(NUMBERS * index.sections.length);
  let at = 0;
  for (const { bucket, offset, length, crc32 = Number.NaN } of index.sections) {
    numbers.set([bucket, offset, length, crc32], at);
    at += NUMBERS;
  }
  return { index: { ...index, sections: [] }, numbers };
}

function unpack<Index extends KnownFacts>({ index, numbers }: Packed<Index>): Index {
  const sections: FactsSection[] = [];
  for (let at = 0; at < numbers.length; at += NUMBERS) {
    const [bucket = 0, offset = 0, length = 0, crc32 = 0] = numbers.subarray(at, at + NUMBERS);
    sections.push({ bucket, offset, length, ...(Number.isNaN(crc32) ? {} : { crc32 }) });
  }
  return { ...index, sections };
}
