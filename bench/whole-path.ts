import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runForJson, startScript } from './child.ts';
import type { Result } from './contenders/contender.ts';
import { interleave, type RoundLimits } from './rounds.ts';
import type { SampleInput } from './sample-input.ts';

export const CONTENDERS = ['backhaul', 'documented', 'ceiling'] as const;
export type ContenderName = (typeof CONTENDERS)[number];

export interface Run extends Result {
  readonly peakRssMb: number;
  /** Events that the sink counted. */
  readonly arrived: number;
}

/** Runs every contender in a process of its own, so that each has its own heap and peak of memory. */
export async function runWholePath(
  input: SampleInput,
  folder: string,
  limits: RoundLimits,
): Promise<Record<ContenderName, readonly Run[]>> {
  const sink = startScript('sink', []);
  const ended = once(sink, 'close');
  try {
    const [line]: unknown[] = await once(sink.stdout, 'data');
    const url = String(line).trim();
    const [backhaul = [], documented = [], ceiling = []] = await interleave(CONTENDERS, limits, (name) =>
      runOnce(name, input, url, folder),
    );
    return { backhaul, documented, ceiling };
  } finally {
    sink.stdin.end();
    await ended;
  }
}

async function runOnce(name: ContenderName, input: SampleInput, url: string, folder: string): Promise<Run> {
  const ownFolder = await mkdtemp(join(folder, `${name}-`));
  const result = (await runForJson('run-contender', [name, input.path, url, ownFolder])) as Omit<
    Run,
    'arrived'
  >;
  await rm(ownFolder, { recursive: true });
  const { arrived } = (await (await fetch(url)).json()) as { arrived: number };
  // A run is valid only if all of the input was read and every sent event arrived.
  if (arrived !== result.sent || result.records !== input.records) {
    throw new Error(
      `${name} read ${result.records} of ${input.records} records and sent ${result.sent} events, ${arrived} arrived`,
    );
  }
  return { ...result, arrived };
}
