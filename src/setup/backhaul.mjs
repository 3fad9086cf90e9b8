#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUNDLED_MAIN } from './bundle.mjs';
import { collectLessOften, limitYoungGeneration } from './heap.mjs';
import { mapStacks } from './map-stack.mjs';
import { loadPartsOfNode, optimizeLate } from './optimizing.mjs';
import { exitOnError, isCheckout, logToStderr, PROJECT_ROOT, setUp, setUpInstalled } from './setup.mjs';

/** Commands that start no Redis. The others find or fetch one first. */
const WITHOUT_REDIS = new Set([
  'init',
  'plan',
  'status',
  'report',
  'doctor',
  'pause',
  'cancel',
  'completion',
  '__complete',
  'help',
]);

const command = process.argv[2];
const redis = command !== undefined && !command.startsWith('-') && !WITHOUT_REDIS.has(command);
await exitOnError(async () => {
  if (isCheckout(PROJECT_ROOT)) return setUp({ redis, log: logToStderr });
  const program = await setUpInstalled({ redis, log: logToStderr });
  if (program !== undefined) process.env.BACKHAUL_REDIS_SERVER = program;
});
// Backhaul supports Node 20 for as long as its dependencies do, so the AWS SDK's warning is no help here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
if (redis) await loadPartsOfNode();
limitYoungGeneration();
collectLessOften();
optimizeLate();
// Nobody has to read along: a terminal or a pipe that is gone must not stop a run.
process.stderr.on('error', () => {});
process.stdout.on('error', () => {});
const { main } = await loadMain();
const code = await main(process.argv);
// Everything is saved: an open connection to a Redis that is gone must not keep the process alive.
process.stdout.write('', () => process.exit(toExitCode(code, process.stdout.errored)));

/** Who closes a pipe has seen enough; a disk that is full leaves a file behind that looks whole. */
function toExitCode(code, error) {
  if (!error || error.code === 'EPIPE') return code;
  process.stderr.write(
    `The output could not be written (${error.message}); it is not whole. Repeat the command.\n`,
  );
  return code || 1;
}

/** Of the bundle, where the build made one; an installed package has the files themselves. */
function loadMain() {
  const bundled = join(PROJECT_ROOT, BUNDLED_MAIN);
  if (!existsSync(bundled)) return import('../../dist/src/cli/main.js');
  const { href } = pathToFileURL(bundled);
  mapStacks(new URL('.', href).href);
  return import(href);
}
