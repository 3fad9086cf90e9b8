import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isBalanced } from '../../src/contract/counts.ts';
import { FINGERPRINT_BYTES } from '../../src/state/fingerprints.ts';
import { listProperties } from '../identity/facts.ts';
import {
  type Attempt,
  BATCH_EVENTS,
  createSpineBench,
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  RECORDS,
  type SpineBench,
  type SpineEnd,
} from './spine-bench.ts';

let bench: SpineBench;
/** An import without a fault. */
let reference: SpineEnd;

beforeAll(async () => {
  bench = await createSpineBench();
  reference = await bench.run();
});
afterAll(() => bench.close());

/** What must be the same whatever happened on the way. Staging keys name the writer and are left out. */
const toResult = ({ receipt, stored, rejects, facts, fingerprints }: SpineEnd) => ({
  tally: receipt.tally,
  stored,
  rejects,
  facts,
  fingerprints,
});

const isTakeover = (kind: FaultKind) => kind === 'overtaken' || kind === 'superseded';

/** A second or two; more where many tests share a machine. */
const TIMEOUT_MS = 180_000;

describe('importPart', () => {
  it('gives every record its outcome and counts accepted events apart from refused ones', () => {
    const { tally } = reference.receipt;
    expect(tally.counts).toEqual({ read: RECORDS, delivered: 37, skipped: 6, duplicate: 5, rejected: 12 });
    expect(tally.byReason).toEqual({
      event_too_large: 1,
      feeds_people: 6,
      no_identity: 3,
      refused: 8,
      repeated: 5,
    });
    expect(tally.events).toEqual({ sent: 48, accepted: 41 });
    expect(reference.stored).toHaveLength(41);
    expect(reference.arrived).toBe(48);
    expect(isBalanced(tally.counts)).toBe(true);
  });

  it('keeps every reject with its line, its reason and its own text', () => {
    expect(reference.rejects).toHaveLength(reference.receipt.tally.counts.rejected);
    expect(reference.rejects).toContain('3 no_identity neither user nor device {"n":2}');
    expect(reference.rejects).toContain('8 refused not this one {"n":7}');
    expect(reference.rejects.find((line) => line.startsWith('41 event_too_large'))).toMatch(/\{"n":40\}$/);
  });

  it('rejects what repeats a refused record as it would in a part of its own', () => {
    expect(reference.rejects).toContain('51 refused not this one {"n":50}');
  });

  it('keeps a fingerprint of every delivered record, and of what was accepted of one that was refused', () => {
    const { counts, events } = reference.receipt.tally;
    expect(events.accepted).toBeGreaterThan(counts.delivered);
    expect(reference.fingerprints.sections).toEqual([{ day: '2023-01-01', rows: events.accepted }]);
    expect(reference.fingerprints.rows).toHaveLength(2 * FINGERPRINT_BYTES * events.accepted);
  });

  it('keeps the identity facts of every record that has any', () => {
    const speaking = RECORDS - 3; // all but those that the map rejects
    const ids = reference.facts.filter((fact) => fact.kind === 'id');
    expect(ids.filter(({ pairs }) => pairs.length === 1)).toHaveLength(speaking);
    expect(ids.filter(({ isUser }) => isUser)).toHaveLength(7);
    expect(ids.filter(({ properties }) => properties !== '0')).toHaveLength(7);
    expect(reference.facts.filter(({ kind }) => kind === 'group')).toHaveLength(3);
    const properties = ids.flatMap((fact) => listProperties(fact.properties).set);
    expect(properties).toHaveLength(speaking);
  });

  it(
    'ends the same when any port fails at any one of its calls, or another worker takes over meanwhile (I1, I3, I5)',
    async () => {
      const { calls } = reference;
      expect(new Set(calls)).toEqual(
        new Set([
          'begin',
          'load receipt',
          'load part',
          'deliver',
          'keep rejects',
          'save',
          'keep facts',
          'keep fingerprints',
          'create receipt',
          'copy checkpoint',
          'forget',
          'remove copy',
        ]),
      );
      for (const [call, port] of calls.entries()) {
        const expectSame = async (kind: FaultKind) => {
          const end = await bench.run([{ fault: { call, kind } }]);
          const where = `${port} (call ${call}) ${kind}`;
          expect(toResult(end), where).toEqual(toResult(reference));
          expect(end.arrived, where).toBeLessThanOrEqual(reference.arrived + mayArriveAgain({ call, kind }));
        };
        const takenOver: FaultKind = call % 2 === 0 ? 'overtaken' : 'superseded';
        const kinds = FAULT_KINDS.filter((kind) => !isTakeover(kind) || kind === takenOver);
        await Promise.all(kinds.map(expectSame));
      }
    },
    TIMEOUT_MS,
  );

  /** One batch, whose checkpoint was not saved; and one of 5 s before, where Redis lost its memory. */
  function mayArriveAgain({ call, kind }: Fault): number {
    const port = reference.calls[call];
    // A part that was taken over before anything of it was sent is sent by its new holder alone.
    if (kind === 'wiped') return 2 * BATCH_EVENTS;
    if (isTakeover(kind) && (port === 'begin' || port === 'load receipt')) return 0;
    const unsaved = isTakeover(kind) || port === 'deliver' || port === 'keep rejects' || port === 'save';
    return unsaved ? BATCH_EVENTS : 0;
  }

  it(
    'ends the same under any few faults, with several requests in flight',
    async () => {
      const attempt: fc.Arbitrary<Attempt> = fc.record({
        requestsInFlight: fc.integer({ min: 1, max: 4 }),
        fault: fc.record({ call: fc.integer({ min: 0, max: 40 }), kind: fc.constantFrom(...FAULT_KINDS) }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 4 }), async (attempts) => {
          const end = await bench.run(attempts);
          expect(toResult(end)).toEqual(toResult(reference));
          const again = attempts.reduce((sum, { requestsInFlight = 1 }) => sum + requestsInFlight + 1, 0);
          expect(end.arrived).toBeLessThanOrEqual(reference.arrived + again * BATCH_EVENTS);
        }),
        { numRuns: 12 },
      );
    },
    TIMEOUT_MS,
  );

  it('sends nothing of a part that has its receipt', async () => {
    const again = await bench.run([{}, {}]);
    expect(again.calls).toEqual(['begin', 'load receipt']);
    expect(again.arrived).toBe(reference.arrived);
    expect(toResult(again)).toEqual(toResult(reference));
  });
});
