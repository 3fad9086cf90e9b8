import { expect, it } from 'vitest';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';

const ROUNDS = 25;
const LIMIT = 2.5;
const SIZE = 1_000_000;

/** About 1 MB of events, of which every `nth` has an id of 20 digits. */
function createText(nth: number): string {
  const events: string[] = [];
  for (let size = 0, n = 1; size < SIZE; n += 1) {
    const id = n % nth === 0 ? `12345678901234${100_000 + n}` : String(n);
    const text =
      `{"event":"page viewed","distinct_id":"user-${n}","timestamp":"2024-01-01T00:00:00.000Z",` +
      `"properties":{"$current_url":"https://example.com/a/b?c=${n}","price":${n}.25,"ok":true,` +
      `"tags":["a","b","${n}"],"nested":{"x":null,"y":[1,2,3]},"id":${id}}}`;
    events.push(text);
    size += text.length;
  }
  return `[${events.join(',')}]`;
}

function time(work: () => unknown): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

/** How many times the native function's time ours takes: the median of rounds that measure both side by side. */
function measureRatio(ours: () => unknown, native: () => unknown): number {
  const ratios = Array.from({ length: ROUNDS }, () => time(ours) / time(native)).sort((a, b) => a - b);
  return ratios[Math.floor(ROUNDS / 2)] ?? Number.POSITIVE_INFINITY;
}

it.each([
  ['without exact numbers', Number.POSITIVE_INFINITY],
  ['with one in a thousand events', 1000],
  ['with one in each event', 1],
])(`writes 1 MB %s in at most ${LIMIT} times the time of JSON.stringify`, (_name, nth) => {
  const text = createText(nth);
  const value = parseJson(text);
  const native: unknown = JSON.parse(text);
  expect(stringifyJson(value)).toBe(text);
  expect(
    measureRatio(
      () => stringifyJson(value),
      () => JSON.stringify(native),
    ),
  ).toBeLessThanOrEqual(LIMIT);
});
