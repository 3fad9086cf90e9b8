import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Row, SectionResult } from '../figures.ts';
import { toBackhaulEnv } from '../lab/backhaul-env.ts';
import type { Lab } from '../lab/lab.ts';
import { type Measured, runMeasured } from '../lab/run-measured.ts';
import { interleave } from '../rounds.ts';
import { writeManifest } from './contenders.ts';
import { compare, dropUndefined, toSpread } from './spreads.ts';

const RECORDS = 100;
/** CPU time comes in steps of 10 ms, so short commands run several times. */
const REPEATS = 5;

interface Start {
  readonly title: string;
  readonly repeats: number;
  readonly root: string;
  run(folder: string, program: readonly string[]): Promise<Measured>;
}

/** What commands cost that do next to nothing. */
export async function measureStartUp(
  lab: Lab,
  { rounds, root }: { readonly rounds: number; readonly root: string },
): Promise<SectionResult> {
  const roots = [root, ...(lab.against === undefined ? [] : [lab.against])];
  const starts = roots.flatMap((of) => listStarts(lab, of, of === root ? '' : `of ${of}: `));
  const runs = await interleave(starts, { rounds }, async (start) => {
    lab.log(`start-up: ${start.title}`);
    const folder = await lab.createFolder('start');
    const program = [
      ...lab.pinning.contender(1),
      process.execPath,
      join(start.root, 'src/setup/backhaul.mjs'),
    ];
    const measured = await start.run(folder, program);
    await rm(folder, { recursive: true, force: true });
    return measured;
  });
  const problems = starts.flatMap(({ title }, index) =>
    (runs[index] ?? [])
      .filter(({ code }) => code !== 0)
      .map(({ code, stderr }) => `start-up: ${title} ended with ${code}: ${stderr.trim().slice(-400)}`),
  );
  const half = starts.length / roots.length;
  const rows = starts.map(({ title, repeats }, index): Row => {
    const of = runs[index] ?? [];
    const seconds = of.map(({ cpuMs }) => cpuMs / 1000 / repeats);
    const other = (runs[index + half] ?? []).map(({ cpuMs }) => cpuMs / 1000 / repeats);
    return {
      name: title,
      cells: dropUndefined({
        seconds: toSpread(seconds),
        timesAgainst: compare(other, seconds),
        wall: toSpread(of.map(({ wallMs }) => wallMs / 1000 / repeats)),
        peakMb: toSpread(of.flatMap(({ peakMb }) => peakMb ?? [])),
      }),
    };
  });
  return {
    tables: [
      {
        section: 'start-up',
        title: 'START-UP',
        columns: [
          { key: 'seconds', head: 'CPU s', format: 'seconds' },
          ...(lab.against === undefined
            ? []
            : [{ key: 'timesAgainst', head: '× cheaper', format: 'ratio' as const }]),
          { key: 'wall', head: 's', format: 'seconds' },
          { key: 'peakMb', head: 'peak MB', format: 'whole' },
        ],
        rows,
      },
    ],
    problems,
  };
}

function listStarts(lab: Lab, root: string, prefix: string): Start[] {
  const repeat = (program: readonly string[], args: readonly string[]) => [
    'sh',
    '-c',
    'n=$1; shift; while [ $n -gt 0 ]; do "$@" >/dev/null || exit; n=$((n-1)); done',
    'sh',
    String(REPEATS),
    ...program,
    ...args,
  ];
  const input = () => lab.loadInput(RECORDS);
  return [
    {
      title: `${prefix}--help`,
      root,
      repeats: REPEATS,
      run: (folder, program) => runMeasured(repeat(program, ['--help']), { cwd: folder }),
    },
    {
      title: `${prefix}status`,
      root,
      repeats: REPEATS,
      async run(folder, program) {
        const manifest = await writeManifest(folder, await input(), lab.sinkUrl);
        const env = toBackhaulEnv(join(folder, 'data'), lab.redis.url);
        await lab.redis.clear();
        const first = await runMeasured([...program, 'run', manifest, '--json'], { cwd: folder, env });
        if (first.code !== 0) return first;
        return runMeasured(repeat(program, ['status']), { cwd: folder, env });
      },
    },
    {
      title: `${prefix}run of ${RECORDS} records, Redis and destination ready`,
      root,
      repeats: 1,
      async run(folder, program) {
        await lab.redis.clear();
        const manifest = await writeManifest(folder, await input(), lab.sinkUrl);
        return runMeasured([...program, 'run', manifest, '--json'], {
          cwd: folder,
          env: toBackhaulEnv(join(folder, 'data'), lab.redis.url),
          services: [lab.redis.pid],
        });
      },
    },
    {
      title: `${prefix}run of ${RECORDS} records, everything embedded, new data folder`,
      root,
      repeats: 1,
      async run(folder, program) {
        const manifest = await writeManifest(folder, await input(), undefined);
        return runMeasured([...program, 'run', manifest, '--json'], {
          cwd: folder,
          env: { ...toBackhaulEnv(join(folder, 'data'), undefined), DATABASE_URL: undefined },
        });
      },
    },
  ];
}
