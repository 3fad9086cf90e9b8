import { runBackhaul } from './contenders/backhaul.ts';
import { runCeiling } from './contenders/ceiling.ts';
import type { Contender } from './contenders/contender.ts';
import { runDocumented } from './contenders/documented.ts';
import { getPeakRssMb } from './measure.ts';

/** `run-contender <name> <input> <url> <folder>`: one run; prints its result as JSON. */
const CONTENDERS: Readonly<Record<string, Contender>> = {
  backhaul: runBackhaul,
  documented: runDocumented,
  ceiling: runCeiling,
};

const [name = '', input = '', url = '', folder = ''] = process.argv.slice(2);
const run = CONTENDERS[name];
if (!run) throw new Error(`no contender "${name}"; there are ${Object.keys(CONTENDERS).join(', ')}`);
const result = await run({ input, url, folder });
process.stdout.write(`${JSON.stringify({ ...result, peakRssMb: getPeakRssMb() })}\n`);
