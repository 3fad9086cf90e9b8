import { BucketLines } from '../../../src/state/facts/bucket-lines.ts';
import { type StoredFact, writeFact } from '../../../src/state/facts/fact-line.ts';
import type { WritableFacts } from '../../../src/state/facts/fact-object.ts';

/** Stored facts as those of a part write themselves. */
export const toWritable = (facts: Iterable<StoredFact>): WritableFacts => ({
  writeLines(lines) {
    for (const fact of facts) writeFact(fact, lines);
  },
});

/** The lines of some facts, in order. */
export const listLines = (facts: WritableFacts): string[] => {
  const lines = new BucketLines();
  facts.writeLines(lines);
  return lines.texts().buckets.flatMap(({ body }) => String(body).split('\n').slice(0, -1));
};

/** The line of one fact. */
export const renderFact = (fact: StoredFact): string => listLines(toWritable([fact]))[0] ?? '';
