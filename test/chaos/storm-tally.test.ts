import { describe, expect, it } from 'vitest';
import { type Drawn, listUnjustified, renderStorm } from './storm-tally.ts';

const KILL = { name: 'a kill', ends: 'killed' } as const;
const FLOOD = { name: 'a flood', ends: 'paused' } as const;
const TROUBLE = { name: 'trouble' };

const SAT_OUT: Drawn = { kind: TROUBLE, end: 'unaffected' };
const KILLED: Drawn = { kind: KILL, end: 'killed' };
const PAUSED: Drawn = { kind: FLOOD, end: 'paused' };
const TOO_LATE: Drawn = { kind: KILL, end: 'finished' };

describe('resumes of a round', () => {
  it.each([
    ['none for what is sat out', [SAT_OUT, SAT_OUT], 0],
    ['one for each kill and each pause', [KILLED, SAT_OUT, PAUSED, KILLED], 3],
    ['none for a kill that came too late', [PAUSED, TOO_LATE], 1],
  ])('are justified: %s', (_name, drawn, resumes) => {
    expect(listUnjustified({ drawn, resumes })).toEqual([]);
    expect(listUnjustified({ drawn, resumes: resumes + 1 })).toEqual([
      expect.stringMatching(`${resumes + 1} resumes, but the faults called for ${resumes}`),
    ]);
    if (resumes > 0) expect(listUnjustified({ drawn, resumes: resumes - 1 })).toHaveLength(1);
  });

  it('are not justified by a fault that has to be sat out, nor by another end than that of its kind', () => {
    const drawn: Drawn[] = [
      { kind: TROUBLE, end: 'paused' },
      { kind: FLOOD, end: 'unaffected' },
    ];
    expect(listUnjustified({ drawn, resumes: 1 })).toEqual([
      'after "trouble" the producer is paused, expected unaffected or finished',
      'after "a flood" the producer is unaffected, expected paused or finished',
    ]);
  });
});

it('a storm ends with one summary', () => {
  const rounds = [
    { storage: 'folder', drawn: [KILLED, SAT_OUT, TOO_LATE], resumes: 1 },
    { storage: 'S3', drawn: [PAUSED, SAT_OUT], resumes: 1 },
    { storage: 'folder', drawn: [KILLED], resumes: 1 },
  ] as const;
  expect(renderStorm(rounds, 7)).toBe(
    [
      'storm: 6 faults in 3 rounds (1 on S3, 2 on folder), seed 7',
      '  1 × a flood',
      '  3 × a kill',
      '  2 × trouble',
      '  resumes: 3, needed 3 (2 killed, 1 paused), allowed at most 4',
    ].join('\n'),
  );
});
