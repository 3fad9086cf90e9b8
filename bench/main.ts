import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runForJson } from './child.ts';
import { computePathFigures, computeStageFigures, type Figures } from './figures.ts';
import { renderFigures } from './render.ts';
import type { StageTimes } from './run-stages.ts';
import { createSampleInput } from './sample-input.ts';
import { runWholePath } from './whole-path.ts';

/**
 * Measures the import of an export against a script that anybody could have written, on generated input, on
 * loopback. Everything runs side by side in one run: only ratios are meaningful.
 */
const USAGE = 'usage: npm run bench -- [--quick] [--json] [--records <n>] [--rounds <n>]';

interface BenchSize {
  readonly records: number;
  readonly stageRecords: number;
  readonly rounds: number;
  /** For the whole path and for the stages, each. */
  readonly budgetMs: number;
}

const THOROUGH: BenchSize = { records: 60_000, stageRecords: 15_000, rounds: 7, budgetMs: 32_000 };
const QUICK: BenchSize = { records: 12_000, stageRecords: 4_000, rounds: 3, budgetMs: 6_000 };

/** Garbage is collected before each stage, on the same thread: otherwise the next stage would pay for it. */
const STAGE_FLAGS = ['--expose-gc', '--single-threaded-gc'];

async function bench(extent: BenchSize): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'backhaul-bench-'));
  try {
    const input = await createSampleInput(folder, extent.records);
    const runs = await runWholePath(input, folder, extent);
    const forStages = await createSampleInput(folder, extent.stageRecords);
    const args = [forStages.path, String(extent.rounds), String(extent.budgetMs)];
    const times = (await runForJson('run-stages', args, STAGE_FLAGS)) as StageTimes[];
    return {
      input: { records: input.records, bytes: input.bytes },
      rounds: { wholePath: runs.backhaul.length, stages: times[0]?.cpuMs.length ?? 0 },
      wholePath: computePathFigures(runs),
      stages: computeStageFigures(times),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function readArgs() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      records: { type: 'string' },
      rounds: { type: 'string' },
    },
  });
  const extent = values.quick ? QUICK : THOROUGH;
  const records = parsePositive('--records', values.records) ?? extent.records;
  const rounds = parsePositive('--rounds', values.rounds) ?? extent.rounds;
  const stageRecords = Math.min(records, extent.stageRecords);
  return { json: values.json, extent: { ...extent, records, rounds, stageRecords } };
}

function parsePositive(flag: string, text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d*$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new TypeError(`${flag} is "${text}"; give a whole number above 0`);
}

let options: ReturnType<typeof readArgs>;
try {
  options = readArgs();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
  process.exit(2);
}
const figures = await bench(options.extent);
process.stdout.write(options.json ? `${JSON.stringify(figures, null, 2)}\n` : renderFigures(figures));
