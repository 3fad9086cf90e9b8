import { setFlagsFromString } from 'node:v8';

/** Ten times what V8 takes by itself. */
const BUDGET = 700_000;

/**
 * Makes V8 compile a function to machine code when it has run ten times as much bytecode as usual. A command runs
 * thousands of functions a few times each, and V8 would optimize hundreds of them just before it ends; those that map
 * and send millions of records are reached a little later.
 */
export function optimizeLate() {
  setFlagsFromString(`--interrupt-budget=${BUDGET}`);
}

/** What a run uses of Node.js, beside what this launcher has loaded. */
const PARTS_OF_NODE =
  'assert dns dns/promises fs/promises http2 https perf_hooks process readline timers/promises tty worker_threads zlib'.split(
    ' ',
  );

/**
 * Node.js brings its own modules compiled, and V8 refuses that code as soon as a flag is not what it was when the code
 * was made. So they are loaded before flags are set, which takes half the time.
 */
export const loadPartsOfNode = () => Promise.all(PARTS_OF_NODE.map((name) => import(`node:${name}`)));
