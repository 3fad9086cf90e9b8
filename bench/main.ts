import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { resolve } from 'node:path';
import { findProjectRoot } from '../src/embedded/project-root.ts';
import { estimateSeconds, renderDuration } from './duration.ts';
import type { Figures, SectionResult } from './figures.ts';
import { type Lab, openLab } from './lab/lab.ts';
import { hasProc } from './lab/process-tree.ts';
import { type BenchOptions, type BenchPlan, parseOptions, USAGE } from './options.ts';
import { renderFigures } from './render.ts';
import { saveFigures } from './save-figures.ts';
import { measureCores } from './sections/cores.ts';
import { measureDecisions } from './sections/decisions.ts';
import { measureGrowth } from './sections/growth.ts';
import { measureIngest } from './sections/ingest.ts';
import { measureMemory } from './sections/memory.ts';
import { measurePersons } from './sections/persons.ts';
import { measureQuestions } from './sections/questions.ts';
import { measureStages } from './sections/stages.ts';
import { measureStartUp } from './sections/start-up.ts';
import { measureWholePath } from './sections/whole-path.ts';

/** Backhaul against what it replaces, on generated input and on loopback; docs/benchmark.md explains each row. */
async function bench(options: BenchOptions): Promise<number> {
  const root = findProjectRoot();
  log(`about ${renderDuration(estimateSeconds(options.plan))} on a quiet machine`);
  const lab = await openLab({
    against: options.against === undefined ? undefined : resolve(options.against),
    log,
  });
  try {
    const results = await measureSections(lab, options.plan, root);
    const figures: Figures = {
      about: describeRun(lab, root),
      tables: results.flatMap(({ tables }) => tables),
    };
    process.stdout.write(renderFigures(figures));
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
    if (options.save) saveFigures(root, figures);
    const problems = results.flatMap((result) => result.problems);
    for (const problem of problems) process.stderr.write(`INVALID: ${problem}\n`);
    return problems.length > 0 ? 1 : 0;
  } finally {
    await lab.close();
  }
}

async function measureSections(lab: Lab, plan: BenchPlan, root: string): Promise<SectionResult[]> {
  const results: SectionResult[] = [];
  const { sections } = plan;
  if (sections.has('whole-path')) {
    for (const size of plan.wholePath) {
      results.push(await measureWholePath(lab, { ...size, withStagesApart: size.latencyMs === 0, root }));
    }
  }
  if (sections.has('stages')) results.push(await measureStages(lab, plan.stages));
  if (sections.has('persons')) results.push(await measurePersons(lab, { ...plan.persons, root }));
  if (sections.has('cores')) results.push(await measureCores(lab, { ...plan.cores, root }));
  if (sections.has('memory')) results.push(await measureMemory(lab, { sizes: plan.memory, root }));
  if (sections.has('ingest')) results.push(await measureIngest(lab, { ...plan.ingest, root }));
  if (sections.has('decisions')) {
    results.push(await measureDecisions(lab, { ...plan.decisions, root }));
  }
  if (sections.has('questions')) results.push(await measureQuestions(lab, plan.questions));
  if (sections.has('growth')) results.push(await measureGrowth(lab, plan.growth));
  if (sections.has('start-up')) results.push(await measureStartUp(lab, { ...plan.startUp, root }));
  return results;
}

function describeRun({ peers, pinning }: Lab, root: string): Figures['about'] {
  const [cpu] = cpus();
  return {
    startedAt: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit: readCommit(root),
    node: process.versions.node,
    machine: `${availableParallelism()} processors (${cpu?.model.trim() ?? 'unknown'}), ${process.platform}`,
    peers: peers.note,
    notes: [
      pinning.note,
      ...(hasProc()
        ? []
        : ['There is no /proc here: memory, the CPU time of Redis, and that of the API are missing.']),
    ],
  };
}

function readCommit(root: string): string {
  try {
    return execFileSync('git', ['-C', root, 'describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

const log = (line: string) => void process.stderr.write(`bench: ${line}\n`);

// Its exit ends all that it has started, and removes the folder of its inputs.
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
] as const)
  process.once(signal, () => process.exit(128 + number));

let options: BenchOptions;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exit(2);
}
if (options.help) process.stdout.write(USAGE);
else process.exitCode = await bench(options);
