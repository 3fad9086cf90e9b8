import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareEpoch,
  DUTIES,
  decide,
  decideLease,
  EPOCH_DUTIES,
  explainRefusal,
  INCIDENTS,
  type Life,
  type LifeEvent,
  REQUESTS,
  STATES,
  type State,
  type Transition,
  toShownState,
  toState,
} from '../../src/migrations/lifecycle.ts';

/**
 * A cell a word: the state that is entered, with `+` where an epoch is opened first; `-` where nothing is
 * written; else the refusal.
 */
const COLUMNS = [...REQUESTS, ...INCIDENTS];
const TABLE: Record<State, string> = {
  none: 'running+ running+ no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration no_such_migration',
  created:
    'running+ running+ running+ running+ paused cancelled removed moved paused - finished running+ - -',
  running:
    'running+ running+ running+ running+ paused cancelled still_running moved paused stopped finished running+ - -',
  stopped:
    'running+ running+ running+ running+ paused cancelled removed moved paused - finished running+ - -',
  paused:
    'resume_first running+ resume_first running+ paused cancelled removed moved paused - finished - - -',
  cancelled:
    'resume_first resume_first resume_first running+ paused cancelled removed moved paused - finished - - -',
  finished:
    'running+ running+ running+ running+ nothing_to_pause nothing_to_cancel removed moved - - - superseded - -',
  removed:
    'removed removed removed removed nothing_to_pause nothing_to_cancel removed moved - - - superseded - -',
  moved: 'moved moved moved moved moved moved - - - - - superseded - -',
  importing: 'importing importing importing importing importing importing - importing - - - superseded - -',
};

function write(transition: Transition): string {
  if (transition.kind === 'stay') return '-';
  if (transition.kind === 'refuse') return transition.refusal;
  return `${transition.state}${transition.newEpoch ? '+' : ''}`;
}

const EPOCH = 3;
const toEvent = (kind: LifeEvent['kind'], epoch: number): LifeEvent =>
  (REQUESTS as readonly string[]).includes(kind) ? ({ kind } as LifeEvent) : ({ kind, epoch } as LifeEvent);

const cells = STATES.flatMap((state) =>
  TABLE[state].split(' ').map((expected, column) => [state, COLUMNS[column] ?? 'run', expected] as const),
);

describe('the life of a migration', () => {
  it('has a cell for every event in every state', () => {
    expect(COLUMNS).toEqual([
      'run',
      'run_edited',
      'top_up',
      'resume',
      'pause',
      'cancel',
      'remove',
      'export',
      'pause_by_worker',
      'stop',
      'finish',
      'redis_wiped',
      'superseded',
      'producer_lost',
    ]);
    expect(cells).toHaveLength(STATES.length * COLUMNS.length);
  });

  it.each(cells)('%s, %s: %s', (state, kind, expected) => {
    expect(write(decide({ state, epoch: EPOCH }, toEvent(kind, EPOCH)))).toBe(expected);
  });

  it.each(STATES.filter((state) => state !== 'none'))(
    'lets an older epoch write nothing while it is %s',
    (state) => {
      for (const kind of INCIDENTS) {
        const written = write(decide({ state, epoch: EPOCH }, { kind, epoch: EPOCH - 1 }));
        expect(written).toBe(kind === 'superseded' ? '-' : 'superseded');
      }
    },
  );

  it('is told from the record and from control', () => {
    expect(toState(undefined, undefined)).toBe('none');
    expect(toState({}, undefined)).toBe('created');
    expect(toState({}, { state: 'paused' })).toBe('paused');
  });
});

/** The machine as producers, workers and operators use it. */
function advance(life: Life, event: LifeEvent): Life {
  const transition = decide(life, event);
  if (transition.kind !== 'enter') return life;
  return { state: transition.state, epoch: life.epoch + (transition.newEpoch ? 1 : 0) };
}

const walks = fc.array(fc.record({ kind: fc.constantFrom(...COLUMNS), behind: fc.nat({ max: 2 }) }), {
  maxLength: 40,
});

describe('any walk through the life of a migration', () => {
  const check = (each: (before: Life, event: LifeEvent, after: Life) => void) =>
    fc.assert(
      fc.property(walks, (steps) => {
        let life: Life = { state: 'none', epoch: 0 };
        for (const { kind, behind } of steps) {
          const event = toEvent(kind, Math.max(0, life.epoch - behind));
          const after = advance(life, event);
          each(life, event, after);
          life = after;
        }
      }),
    );

  it('never lets an older epoch change anything', () => {
    check((before, event, after) => {
      if ('epoch' in event && event.epoch < before.epoch) expect(after).toEqual(before);
    });
  });

  it('opens epochs one by one, and only to run', () => {
    check((before, _, after) => {
      expect(after.epoch - before.epoch).toBeGreaterThanOrEqual(0);
      expect(after.epoch - before.epoch).toBeLessThanOrEqual(1);
      if (after.epoch !== before.epoch) expect(after.state).toBe('running');
      if (after.state === 'running' && before.state !== 'running') expect(after.epoch).toBe(before.epoch + 1);
    });
  });

  it('sends nothing of a paused or cancelled migration before somebody resumes or edits it', () => {
    check(({ state }, event, after) => {
      if (state !== 'paused' && state !== 'cancelled') return;
      if (event.kind === 'resume') expect(after.state).toBe('running');
      else if (event.kind === 'run_edited' && state === 'paused') expect(after.state).toBe('running');
      else if (event.kind === 'finish') expect(['finished', state]).toContain(after.state);
      else expect(DUTIES[after.state]).toEqual({ producer: 'end', worker: 'hand_back' });
    });
  });

  it('is finished by its producer alone, and never returns to having no record or no control', () => {
    check((before, event, after) => {
      if (after.state === 'finished' && before.state !== 'finished') expect(event.kind).toBe('finish');
      if (before.state !== 'none') expect(after.state).not.toBe('none');
      if (before.state !== 'none' && before.state !== 'created') expect(after.state).not.toBe('created');
    });
  });
});

describe('what producers and workers do', () => {
  it('is this, in each state', () => {
    const written = STATES.map((state) => `${state} ${DUTIES[state].producer} ${DUTIES[state].worker}`);
    expect(written).toEqual([
      'none continue work',
      'created continue work',
      'running continue work',
      'stopped continue hand_back',
      'paused end hand_back',
      'cancelled end hand_back',
      'finished continue work',
      'removed end hand_back',
      'moved end hand_back',
      'importing end hand_back',
    ]);
  });

  it.each([
    [4, 4, 'in_force', 'continue', 'work'],
    [4, 5, 'superseded', 'end', 'hand_back'],
    [4, 3, 'ahead', 'acquire', 'hand_back'],
    [4, undefined, 'forgotten', 'acquire', 'hand_back'],
  ] as const)('is this, of epoch %s where Redis knows %s: %s', (own, known, standing, producer, worker) => {
    expect(compareEpoch(own, known)).toBe(standing);
    expect(EPOCH_DUTIES[standing]).toEqual({ producer, worker });
  });
});

describe('the lease', () => {
  const here = { host: 'here', isAlive: (pid: number) => pid === 7 };

  it.each([
    [{ host: 'here', pid: 7 }, 'refuse'],
    [{ host: 'here', pid: 8 }, 'remove'],
    [{ host: 'elsewhere', pid: 8 }, 'refuse'],
    [{ host: 'here', pids: 'of another container', pid: 8 }, 'refuse'],
  ] as const)('of %j: %s', (holder, decision) => {
    expect(decideLease(holder, here)).toBe(decision);
  });
});

describe('what people are shown', () => {
  it.each([
    ['created', false, 'interrupted'],
    ['created', true, 'running'],
    ['running', true, 'running'],
    ['running', false, 'interrupted'],
    ['stopped', true, 'stopped'],
    ['paused', false, 'paused'],
    ['cancelled', false, 'cancelled'],
    ['finished', false, 'finished'],
  ] as const)('%s, lease held %s: %s', (state, leased, shown) => {
    expect(toShownState(state, leased)).toBe(shown);
  });

  it.each([
    ['no_such_migration', 'none', '', 'there is no migration "shop"'],
    ['resume_first', 'paused', '', 'migration "shop" is paused'],
    ['resume_first', 'cancelled', 'not wanted', 'migration "shop" is cancelled (not wanted)'],
    ['nothing_to_pause', 'finished', '', 'migration "shop" is finished; there is nothing to pause'],
    ['nothing_to_cancel', 'finished', '', 'migration "shop" is finished; there is nothing to cancel'],
    [
      'superseded',
      'running',
      '',
      'another process has acquired this migration; this one stops, nothing is lost',
    ],
  ] as const)('of the refusal %s', (refusal, state, reason, text) => {
    expect(explainRefusal(refusal, { name: 'shop', state, reason })).toBe(text);
  });
});
