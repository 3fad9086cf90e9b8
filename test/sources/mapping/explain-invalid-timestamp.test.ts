import { describe, expect, it } from 'vitest';
import { explainInvalidTimestamp } from '../../../src/sources/mapping/explain-invalid-timestamp.ts';

describe('what is wrong with a time', () => {
  it.each([
    ['2023-02-30 10:00:00', 'iso', /no such day/],
    ['2023-13-01', 'iso', /no such day/],
    ['2023-02-28T24:30:00Z', 'iso', /no such day or time of day/],
    ['2023-02-28 10:00:61', 'iso', /no such day or time of day/],
    ['2023-05-01 12:00:00 CEST', 'iso', /abbreviation CEST is not read.*\+02:00/],
    ['2023-05-01T12:00:00.123PST', 'iso', /abbreviation PST is not read/],
    [1_683_000_000, 'iso', /epoch_s or epoch_ms/],
    ['31/04/2023', 'dd/MM/yyyy', /no such day/],
  ])('explains %j, read as %s', (value, format, why) => {
    expect(explainInvalidTimestamp(value, format)).toMatch(why);
  });

  it.each([
    ['last Tuesday', 'iso'],
    ['2101-01-01 00:00:00', 'iso'],
    ['2023-05-01 noon or so', 'iso'],
    ['1667089800', 'epoch_ms'],
    ['2023-04-31', 'dd/MM/yyyy'],
    [{}, 'iso'],
  ])('is not guessed of %j, read as %s', (value, format) => {
    expect(explainInvalidTimestamp(value, format)).toBeUndefined();
  });
});
