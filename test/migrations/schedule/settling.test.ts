import { describe, expect, it } from 'vitest';
import { createSettling, describeWaiting } from '../../../src/migrations/schedule/settling.ts';

const MINUTE = 60_000;
const NOW = Date.parse('2024-05-01T06:00:00Z');
const at = (minutes: number) => new Date(NOW + minutes * MINUTE).toISOString();
const times = (minutes = 0) => ({ now: new Date(NOW + minutes * MINUTE), lagMs: 30 * MINUTE });
const file = (modified: string, more: object = {}) =>
  ({ fileId: 'f', name: 'f.json', bytes: 10, modified, location: 'producer', ...more }) as const;

describe('a file', () => {
  it.each([
    { what: 'changed before the lag', of: file(at(-30)), isSettled: true },
    { what: 'changed a moment ago', of: file(at(-29)), isSettled: false },
    { what: 'changed in the future', of: file(at(1)), isSettled: false },
    { what: 'is an object of a bucket', of: file(at(1), { location: 'shared' }), isSettled: true },
    { what: 'has no time of change', of: file(''), isSettled: true },
  ])('that $what is settled: $isSettled', ({ of, isSettled }) => {
    expect(createSettling(times(), undefined).isSettled(of)).toBe(isSettled);
  });

  it('of the future is settled once it was the same for as long as the lag', () => {
    const look = (minutes: number, seen: Parameters<typeof createSettling>[1], of = file(at(600))) => {
      const settling = createSettling(times(minutes), seen);
      return { isSettled: settling.isSettled(of), ...settling.listLeft() };
    };
    const first = look(0, undefined);
    expect(first).toEqual({
      isSettled: false,
      waiting: { files: 1, ahead: 1, names: ['f.json'] },
      ahead: [{ fileId: 'f', bytes: 10, modified: at(600), since: at(0) }],
    });
    expect(look(29, first.ahead)).toMatchObject({ isSettled: false, ahead: [{ since: at(0) }] });
    expect(look(30, first.ahead)).toEqual({ isSettled: true });
    for (const other of [file(at(600), { bytes: 11 }), file(at(601))])
      expect(look(30, first.ahead, other)).toMatchObject({ isSettled: false, ahead: [{ since: at(30) }] });
    // The clock was set back since.
    expect(look(-90, first.ahead)).toMatchObject({ isSettled: false, ahead: [{ since: at(-90) }] });
    // A run that does not look keeps what was seen.
    expect(createSettling(times(30), first.ahead).listLeft()).toEqual({ ahead: first.ahead });
  });
});

it('files that wait are counted, and the first ones named', () => {
  const settling = createSettling(times(), undefined);
  for (const n of [1, 2, 3, 4, 4])
    settling.isSettled(file(at(n === 1 ? 1 : -1), { fileId: `${n}`, name: `${n}.json` }));
  const { waiting } = settling.listLeft();
  expect(waiting && describeWaiting(waiting)).toBe(
    '4 files wait for a later run, as they may still be written: 1.json, 2.json, 3.json, 1 more (the time of change of 1 lies in the future)',
  );
  expect(describeWaiting({ files: 1, ahead: 0, names: ['a.json'] })).toBe(
    '1 file waits for a later run, as it may still be written: a.json',
  );
});
