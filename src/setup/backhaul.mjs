#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { PROJECT_ROOT, sayOnStderr, setUpOrExit } from './setup.mjs';

/** Commands that start no Redis; the others find or fetch one first. */
const WITHOUT_REDIS = new Set(['plan', 'status', 'report', 'doctor', 'pause', 'cancel', 'help']);

const command = process.argv[2];
// A shipped build comes without its sources: there is nothing to set up.
if (existsSync(join(PROJECT_ROOT, 'src/cli/main.ts'))) {
  const redis = command !== undefined && !command.startsWith('-') && !WITHOUT_REDIS.has(command);
  await setUpOrExit({ redis, say: sayOnStderr });
}
// Backhaul supports Node 20 for as long as its dependencies do; the SDK's word on it helps nobody here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
// Where a machine has memory to spare, V8 lets garbage grow to a multiple of what is in use. Workers stand
// in numbers on a machine, so they collect early and keep the young generation small.
setFlagsFromString('--heap-growing-percent=50');
setFlagsFromString('--semi-space-growth-factor=1');
const { main } = await import('../../dist/src/cli/main.js');
const code = await main(process.argv);
// Everything is saved; connections to a Redis that is gone must not keep the process.
process.stdout.write('', () => process.exit(code));
