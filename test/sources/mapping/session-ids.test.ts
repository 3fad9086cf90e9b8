import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReadSessionOfEvent } from '../../../src/sources/mapping/session-ids.ts';
import { readEpochMs } from '../../../src/sources/mapping/timestamp.ts';

/** https://posthog.com/docs/data/sessions: a UUIDv7 not later than its first event and not over 24 hours long. */

const DAY = 24 * 3_600_000;
const MINUTE = 60_000;
const START = Date.UTC(2023, 2, 14, 9);

const read = createReadSessionOfEvent('x', readEpochMs);
const iso = (ms: number) => new Date(ms).toISOString();
const toMs = (uuid: string) => Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);

/** `wrongBy`: what the device's clock is behind. */
const idOf = (afterMs: number, wrongBy: number, { session = String(START), owner = 'd-1' } = {}) =>
  read({ owner, session, time: iso(START + afterMs + wrongBy), deviceTime: iso(START + afterMs) });

describe('the id of a session', () => {
  it('is a UUIDv7 with a time shortly before the start', () => {
    const id = idOf(0, 0) ?? '';
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(START - toMs(id)).toBe(7.5 * MINUTE);
  });

  it.each([
    ['requests that took their time', [0, 200, 900, -400, 60_000]],
    ['a clock that is a day ahead', [-DAY, -DAY + 300, -DAY - 2_000]],
    ['a clock of another zone', [330 * MINUTE, 330 * MINUTE + 40]],
  ])('is the same for all of its events, with %s', (_, clocks) => {
    const ids = clocks.flatMap((wrongBy) => [idOf(0, wrongBy), idOf(45 * MINUTE, wrongBy)]);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toBeDefined();
  });

  it('is never later than an event, nor more than 24 hours older', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -DAY, max: 3 * DAY }),
        fc.integer({ min: -400 * DAY, max: 400 * DAY }),
        fc.boolean(),
        (afterMs, wrongBy, isKnown) => {
          const timeMs = START + afterMs + wrongBy;
          const deviceTime = isKnown ? iso(START + afterMs) : undefined;
          const id = read({ owner: 'd', session: String(START), time: iso(timeMs), deviceTime });
          if (id === undefined) return;
          expect(toMs(id)).toBeLessThanOrEqual(timeMs);
          expect(timeMs - toMs(id)).toBeLessThanOrEqual(DAY);
        },
      ),
    );
  });

  it.each([
    [0, true],
    [DAY - 7.5 * MINUTE, true],
    [DAY - 7.5 * MINUTE + 1, false],
    [-7.5 * MINUTE, true],
    [-7.5 * MINUTE - 1, false],
  ])('of an event %d ms after the start: %s', (afterMs, has) => {
    expect(idOf(afterMs, 0) !== undefined).toBe(has);
  });

  it('is another for another owner and another start, and none for what is no time', () => {
    expect(idOf(0, 0, { owner: 'd-2' })).not.toBe(idOf(0, 0));
    expect(idOf(0, 0, { session: String(START - 1) })).not.toBe(idOf(0, 0));
    for (const session of ['', 'abc', '-1', '7']) expect(idOf(0, 0, { session })).toBeUndefined();
  });

  it('does not depend on what was read before', () => {
    const fresh = createReadSessionOfEvent('x', readEpochMs);
    const of = { owner: 'd-1', session: String(START), time: iso(START), deviceTime: iso(START) };
    idOf(0, 30 * MINUTE);
    expect(read(of)).toBe(fresh(of));
  });
});
