import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../../src/lib/json/parse-json.ts';
import { countGrowth, countGrowthAtMost } from '../../../../src/server/capture/ingest/fit-profile.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u001f\u001f\u001f', '"\\', '\ud800', '\u2028'),
);
const value = fc.oneof(
  text,
  fc.jsonValue(),
  fc.constantFrom(undefined, 1e300, -1e-300, 5e-324, parseJson('17041189549083496721'), parseJson('1e400')),
);
const values = fc.array(fc.tuple(text, value)).map((members) => new Map(members));

test('the growth of a profile is never more than the one that is estimated', () => {
  fc.assert(
    fc.property(values, values, (properties, changes) => {
      const growth = countGrowth({ properties, takenOver: new Set() }, changes);
      expect(countGrowthAtMost(changes)).toBeGreaterThanOrEqual(growth);
    }),
    { numRuns: 500 },
  );
});
