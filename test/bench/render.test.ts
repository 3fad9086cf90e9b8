import { describe, expect, it } from 'vitest';
import type { Figures } from '../../bench/figures.ts';
import { renderFigures, renderMarkdown } from '../../bench/render.ts';
import { keepOtherSections } from '../../bench/save-figures.ts';
import { toStagesTable } from '../../bench/sections/stages.ts';

const figures: Figures = {
  about: {
    startedAt: '2026-01-01 00:00',
    commit: 'abc',
    node: '20.20.2',
    machine: 'two',
    peers: 'none',
    notes: [],
  },
  tables: [
    {
      section: 'whole-path',
      title: 'WHOLE PATH',
      columns: [
        { key: 'times', head: '× documented', format: 'ratio' },
        { key: 'perSecond', head: 'records/s', format: 'whole' },
        { key: 'arrived', head: 'arrived', format: 'text' },
      ],
      rows: [
        {
          name: 'Backhaul',
          cells: { times: spread(2, 1.5, 2.25), perSecond: spread(26_667), arrived: 'all' },
        },
        { name: 'ceiling', cells: { perSecond: spread(100_000.4) } },
      ],
      notes: ['One core.'],
    },
  ],
};

function spread(median: number, low = median, high = median) {
  return { median, low, high };
}

describe('the tables of a benchmark', () => {
  it('show a median with its range, and nothing where there is nothing to say', () => {
    const lines = renderFigures(figures).split('\n');
    expect(lines.slice(-5)).toEqual([
      'WHOLE PATH      × documented  records/s  arrived',
      'Backhaul    2.00 (1.50-2.25)     26,667      all',
      'ceiling                         100,000',
      '  One core.',
      '',
    ]);
  });

  it('keep those of other sections, with the run that they are of', () => {
    const [table] = figures.tables;
    const persons = { section: 'persons', title: 'PERSONS', columns: [], rows: [] };
    const saved = { ...figures, tables: [...figures.tables, persons, { ...persons, measured: 'earlier' }] };
    const fresh = { ...figures, about: { ...figures.about, commit: 'def' } };
    const { about, tables } = keepOtherSections(saved, fresh);
    expect(about.commit).toBe('def');
    expect(tables).toEqual([
      table,
      { ...persons, measured: '2026-01-01 00:00, commit abc' },
      { ...persons, measured: 'earlier' },
    ]);
    expect(renderMarkdown({ about, tables })).toContain(
      '## PERSONS\n\nMeasured 2026-01-01 00:00, commit abc.\n',
    );
  });

  it('are Markdown in docs/', () => {
    expect(renderMarkdown(figures)).toContain(
      [
        '## WHOLE PATH',
        '',
        '|  | × documented | records/s | arrived |',
        '| --- | --: | --: | --- |',
        '| Backhaul | 2.00 (1.50-2.25) | 26,667 | all |',
        '| ceiling |  | 100,000 |  |',
        '',
        'One core.',
      ].join('\n'),
    );
  });

  it('compare stages with JSON.parse of the same source, round by round', () => {
    const { rows } = toStagesTable(
      [
        { source: 'csv', name: 'JSON.parse alone', records: 1000, cpuMs: [10, 20] },
        { source: 'csv', name: 'parse', records: 1000, cpuMs: [25, 50] },
        { source: 'jsonl', name: 'JSON.parse alone', records: 1000, cpuMs: [5, 5] },
      ],
      1000,
    );
    expect(rows[1]?.cells).toEqual({ timesParse: spread(2.5), micros: spread(37.5, 25, 50) });
    expect(rows[2]?.cells['timesParse']).toEqual(spread(1));
  });
});
