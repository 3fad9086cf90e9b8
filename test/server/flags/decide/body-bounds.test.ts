import { expect, test } from 'vitest';
import { MAX_NAMES, refuseManyNames } from '../../../../src/server/flags/decide/body-bounds.ts';

/** A body with so many names, one of them its field. */
const body = (names: number, value: unknown = 'a long value, so that the body is looked through') =>
  JSON.stringify({
    person_properties: Object.fromEntries(Array.from({ length: names - 1 }, (_, n) => [`"{:${n}\\`, value])),
  });

test.each(['text', 'bytes'])('counts the names of a body, %s', (form) => {
  const read = (text: string) => (form === 'text' ? text : Buffer.from(text));
  refuseManyNames(read(body(MAX_NAMES)));
  expect(() => refuseManyNames(read(body(MAX_NAMES + 1)))).toThrow(`more than ${MAX_NAMES} names`);
  expect(() => refuseManyNames(read(`[${body(MAX_NAMES + 1)}]`))).toThrow(
    expect.objectContaining({ envelope: expect.objectContaining({ attr: 'person_properties' }) }),
  );
});

test('looks through the shortest body that holds too many', () => {
  expect(() => refuseManyNames(`{${'"":1,'.repeat(MAX_NAMES)}"":1}`)).toThrow('names');
  expect(() => refuseManyNames(`{${'"":{'.repeat(MAX_NAMES + 1)}`)).toThrow('names');
});

test('ends with a text that is cut short', () => {
  refuseManyNames(`{"a":"${'x\\"'.repeat(MAX_NAMES * 5)}`);
});
