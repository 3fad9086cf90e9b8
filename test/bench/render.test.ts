import { describe, expect, it } from 'vitest';
import { computePathFigures, computeStageFigures } from '../../bench/figures.ts';
import { renderFigures } from '../../bench/render.ts';
import type { Run } from '../../bench/whole-path.ts';

const run = (cpuMs: number, peakRssMb: number): Run => ({
  records: 1000,
  sent: 900,
  arrived: 900,
  peakRssMb,
  phases: { stage: { cpuMs: cpuMs / 4, wallMs: 0 }, import: { cpuMs: (3 * cpuMs) / 4, wallMs: 0 } },
});

describe('the table of a benchmark', () => {
  const figures = {
    input: { records: 1000, bytes: 2_000_000 },
    rounds: { wholePath: 1, stages: 1 },
    wholePath: computePathFigures({
      backhaul: [run(50, 200)],
      documented: [run(100, 150)],
      ceiling: [run(25, 100)],
    }),
    stages: computeStageFigures([
      { source: 'csv', name: 'JSON.parse alone', records: 1000, cpuMs: [10] },
      { source: 'csv', name: 'parse', records: 1000, cpuMs: [25] },
      { source: 'jsonl', name: 'JSON.parse alone', records: 1000, cpuMs: [5] },
    ]),
  };
  const lines = renderFigures(figures).split('\n');
  const lineOf = (start: string) => lines.find((line) => line.startsWith(start)) ?? '';

  it('compares whole paths by records per CPU second with the script and the ceiling', () => {
    expect(lineOf('Backhaul, staging and import')).toMatch(/ 2\.00 \(.*\) +0\.50 \(.*\) +20,000 +200$/);
    expect(lineOf('  of it import')).toMatch(/ 2\.67 \(.*\) +0\.67 \(.*\) +26,667$/);
    expect(lineOf('documented script')).toMatch(/ 1\.00 \(.*\) +0\.25 \(/);
  });

  it('compares stages with JSON.parse of the same source', () => {
    expect(lineOf('csv: parse')).toMatch(/ 2\.50 \(/);
    expect(lineOf('jsonl: JSON.parse alone')).toMatch(/ 1\.00 \(/);
  });

  it('keeps its columns under their heads', () => {
    const column = lineOf('WHOLE PATH').indexOf('records/CPU s') + 'records/CPU s'.length;
    for (const start of ['documented', 'Backhaul', 'ceiling', 'csv: parse']) {
      expect(lineOf(start).slice(column - 7, column)).toMatch(/\d,\d{3}$/);
    }
  });
});
