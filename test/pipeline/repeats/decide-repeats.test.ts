import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decideKey, type Rows } from '../../../src/pipeline/repeats/decide-repeats.ts';
import { OF_ONE } from '../../../src/state/fingerprints.ts';

interface Row {
  readonly content: number;
  /** Of another sender. */
  readonly sender?: string;
  readonly isRejected?: boolean;
}

/** Own rows first, as the fold has them. */
function decide(own: readonly Row[], others: readonly Row[]) {
  const all = [...own, ...others];
  let compared = 0;
  const at = (row: number): Row => all[row] ?? expect.unreachable();
  const rows: Rows = {
    own: own.length,
    compareContents(a, b) {
      compared += 1;
      return at(a).content - at(b).content;
    },
    getKind: () => OF_ONE,
    getSender: (row) => at(row).sender,
    isRejected: (row) => at(row).isRejected === true,
    toRecord: (record) => ({ source: 0, record, day: '', name: 0, eventKey: undefined }),
  };
  const duplicates: number[] = [];
  const collisions: number[] = [];
  const stay: number[] = [];
  decideKey([...all.keys()], rows, {
    onDuplicate: ({ record }) => void duplicates.push(record),
    onCollision: ({ record }) => void collisions.push(record),
    onStays: ({ record }) => void stay.push(record),
    onEvents: () => {},
  });
  return {
    duplicates,
    collisions,
    stay,
    compared,
    toContents: (of: number[]) => of.map((row) => at(row).content),
  };
}

const anyContent = fc.nat({ max: 4 });
const anyOwn = fc.array(fc.record({ content: anyContent }), { minLength: 1, maxLength: 6 });
const anyOthers = fc.array(
  fc.record({ content: anyContent, sender: fc.constantFrom('a', 'b'), isRejected: fc.boolean() }),
  { maxLength: 6 },
);

it('lets those contents stay that another sender delivered, else the smallest one', () => {
  fc.assert(
    fc.property(anyOwn, anyOthers, (own, others) => {
      const delivered = others.filter(
        (one) =>
          !others.some(
            (each) => each.isRejected && each.sender === one.sender && each.content === one.content,
          ),
      );
      const contents = [...new Set(own.map(({ content }) => content))].sort((a, b) => a - b);
      const staying =
        delivered.length > 0
          ? new Set(delivered.map(({ content }) => content))
          : new Set(contents.slice(0, 1));
      const found = decide(own, others);
      expect(found.duplicates).toHaveLength(own.length - contents.length);
      expect(found.toContents(found.collisions)).toEqual(contents.filter((one) => !staying.has(one)));
      expect(found.toContents(found.stay)).toEqual(
        found.stay.length > 0 ? [...staying].sort((a, b) => a - b) : [],
      );
      if (found.collisions.length > 0 || staying.size > 1) expect(found.stay).toHaveLength(staying.size);
    }),
  );
});

it('compares few pairs of a key with very many contents', () => {
  const count = 20_000;
  const own = Array.from({ length: count }, (_, content) => ({ content }));
  for (const isRejected of [false, true]) {
    const others = own.map(({ content }) => ({ content: 2 * content, sender: 'a', isRejected }));
    // Sorting takes 15 a row or less.
    expect(decide(own, others).compared).toBeLessThan(40 * count);
  }
});
