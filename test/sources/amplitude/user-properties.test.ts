import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeferredValues } from '../../../src/contract/identity-fact.ts';
import { renderSnapshot } from '../../../src/identity/render-snapshot.ts';
import { JsonToken } from '../../../src/lib/json/json-token.ts';
import { RecordScanner } from '../../../src/lib/json/record-scanner.ts';
import { readField } from '../../../src/lib/json/record-view.ts';
import { TextBuffer } from '../../../src/lib/text-buffer.ts';
import {
  createReadUserProperties,
  type UserPropertyRules,
} from '../../../src/sources/amplitude/user-properties.ts';

const RULES: UserPropertyRules = {
  toSetOnceName: (name) => (name === 'initial_kept' ? undefined : `$${name}`),
  isNone: (value) => (value instanceof JsonToken ? value.read() : value) === 'EMPTY',
  isWhole: true,
};

/** What is stored of user properties that were read from the bytes of a record, and what is made of the values. */
function readBoth(line: string, rules: UserPropertyRules) {
  const bytes = Buffer.from(`${line}\n`);
  const scanner = new RecordScanner(new Set(['user_properties']));
  const view = scanner.scan(bytes, 0, bytes.length - 1) as Readonly<Record<string, unknown>> | undefined;
  if (!view) return [];
  const read = createReadUserProperties(rules)(readField(view, 'user_properties'));
  return [read.set, read.setOnce].flatMap((part) =>
    part instanceof DeferredValues
      ? [{ cut: renderText(part), keys: [...part.keys], made: renderSnapshot(part.values), of: part.values }]
      : [],
  );
}

/** What is written of it. */
function renderText(part: DeferredValues): string {
  const out = new TextBuffer(64);
  part.write(out);
  return out.bytes.toString('utf8', 0, out.end);
}

const toLine = (own: unknown) => JSON.stringify({ user_properties: own, event_type: 'x' });

describe('the stored text of user properties', () => {
  it('is cut out of the record: names sorted, objects as well, initial ones under their own name', () => {
    const own = {
      plan: 'free, "no"'.replaceAll('"', '}'),
      $a: [1, 'two', { z: 1, a: [null] }],
      n: -1.5,
      nothing: null,
      t: true,
      o: { z: {}, a: 'x' },
      initial_z: 'EMPTY',
      initial_b: 'google',
      initial_kept: 0,
      e: 'EMPTY',
    };
    const [set, setOnce] = readBoth(toLine(own), RULES);
    expect(set?.cut).toBe(set?.made);
    expect(set?.cut).toContain('"e":"EMPTY"');
    expect(set?.cut).toContain('"o":{"a":"x","z":{}}');
    expect(set?.cut).toContain('"$backhaul_whole":true');
    expect(setOnce?.cut).toBe('{"$initial_b":"google"}');
  });

  it('is that of the values, whatever these are', () => {
    const text = fc.string({ unit: 'grapheme-ascii' });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.constantFrom('EMPTY', '', null, true, false, 0, -0, 12345678901234, 1e-9),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(text, tie('value'), { maxKeys: 3 }),
      ),
    }));
    const name = fc.oneof(
      text,
      fc.constantFrom('plan', '$plan', 'initial_plan', 'initial_kept', 'initial_x', '__proto__', '1'),
    );
    let cut = 0;
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 6 }), fc.boolean(), (own, isWhole) => {
        for (const part of readBoth(toLine(own), { ...RULES, isWhole })) {
          expect(part.cut).toBe(part.made);
          expect(part.keys).toEqual(Object.keys(part.of));
          cut += 1;
        }
      }),
      { numRuns: 300 },
    );
    expect(cut).toBeGreaterThan(20);
  });
});
