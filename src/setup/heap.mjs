import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const MOST_BYTES = 8 * 1024 * 1024;
const LOOK_EVERY_MS = 50;

/**
 * Keeps the young generation of this process at two halves of about 4 MB. V8 doubles it from 1 MB to 16 MB, which is
 * 30 MB of resident memory more and saves no time. Its own limit can only be set where Node.js is started; how
 * fast it grows can be set at any time.
 */
export function limitYoungGeneration() {
  let grows = true;
  const look = () => {
    const mayGrow = readYoungBytes() < MOST_BYTES;
    if (mayGrow !== grows) setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
    grows = mayGrow;
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

/** Of both halves. */
export const readYoungBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;

/** By which the old generation may grow, in percent, before V8 collects it once more. */
const GROWTH = 150;
/** The same from `LARGE_BYTES` of resident memory on. */
const GROWTH_OF_LARGE = 40;
const LARGE_BYTES = 200 * 1024 * 1024;

/**
 * Makes V8 collect the old generation when it is two and a half times as large as it was, memory outside of the heap
 * included. During an import V8 finds a growth of 10 to 20% enough by itself, which buffers bring with every other part:
 * it marked the same 35 MB again and again. A process that has become large may grow by less: so an import of millions
 * of records takes little more memory than one of 100,000.
 */
export function collectLessOften() {
  let growth = 0;
  const look = () => {
    const next = process.memoryUsage.rss() > LARGE_BYTES ? GROWTH_OF_LARGE : GROWTH;
    if (next !== growth) setFlagsFromString(`--heap-growing-percent=${next}`);
    growth = next;
  };
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
}
