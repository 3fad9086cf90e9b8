#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT, sayOnStderr, setUpOrExit } from './setup.mjs';

/** Commands that start no Redis; the others find or fetch one first. */
const WITHOUT_REDIS = new Set(['plan', 'report', 'doctor', 'pause', 'cancel', 'help']);

const command = process.argv[2];
// A shipped build comes without its sources: there is nothing to set up.
if (existsSync(join(PROJECT_ROOT, 'src/cli/main.ts'))) {
  const redis = command !== undefined && !command.startsWith('-') && !WITHOUT_REDIS.has(command);
  await setUpOrExit({ redis, say: sayOnStderr });
}
const { main } = await import('../../dist/src/cli/main.js');
process.exitCode = await main(process.argv);
