import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limitNames, markNames, PropertyList } from '../../../src/lib/json/property-list.ts';

/** Names that an object puts in front, and some that only look like them. */
const name = fc.oneof(
  fc.constantFrom('a', 'b', 'c', '$os', '', 'constructor', 'toString'),
  fc.constantFrom('0', '1', '2', '10', '01', '-1', '1.5', '4294967294', '4294967295', '99999999999'),
  fc.string({ maxLength: 2 }).filter((text) => text !== '__proto__'),
);
const step = fc.record({
  list: fc.nat({ max: 1 }),
  doing: fc.constantFrom('set', 'set', 'set', 'delete'),
  name,
  value: fc.oneof(fc.integer(), fc.constant(undefined)),
});

const listNames = (list: PropertyList) => list.names.slice(0, list.count).map(({ text }) => text);

it('is what an object is, in the order of its keys too, also where two lists are written in turns', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isReleased) => {
      const lists = [new PropertyList(), new PropertyList()] as const;
      const objects: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
      for (const { list: at, doing, name: text, value } of steps) {
        const [list, object] = at === 0 ? [lists[0], objects[0]] : [lists[1], objects[1]];
        if (doing === 'set') {
          list.set(text, value);
          object[text] = value;
        } else {
          list.delete(text);
          delete object[text];
        }
        expect(list.has(text)).toBe(Object.hasOwn(object, text));
        expect(list.get(text)).toBe(Object.hasOwn(object, text) ? object[text] : undefined);
      }
      for (const [at, object] of objects.entries()) {
        const list = lists[at] as PropertyList;
        expect(Object.entries(list.toObject())).toEqual(Object.entries(object));
        expect(listNames(list)).toEqual(Object.keys(object));
        if (isReleased) list.release();
      }
    }),
  );
});

it('stays what it is however many names other lists have', () => {
  const before = limitNames();
  const kept = new PropertyList();
  kept.set('kept', 1);
  for (let n = 0; n < 20_000; n += 1) {
    limitNames(); // as in front of each record
    new PropertyList().set(`name ${n}`, n);
  }
  expect(limitNames()).toBeGreaterThan(before);
  kept.set('more', 2);
  kept.set('kept', 3);
  expect(kept.toObject()).toEqual({ kept: 3, more: 2 });
  expect(listNames(kept)).toEqual(['kept', 'more']);
});

it('has nothing of the list whose memory it got, and says which marked names it may have', () => {
  const mark = markNames(['looked for', 'this too']);
  const list = new PropertyList();
  list.set('a', 1);
  list.set('this too', 2);
  expect(list.mayHave(mark)).toBe(true);
  list.release();
  const next = new PropertyList();
  next.set('b', 3);
  expect(next.mayHave(mark)).toBe(false);
  expect(next.has('a')).toBe(false);
  expect(next.toObject()).toEqual({ b: 3 });
  next.set('looked for', 4);
  expect(next.mayHave(mark)).toBe(true);
});
