import { ALL } from './form.ts';

/**
 * What random tests are drawn from. It is the same in every usual run, so that a commit that passed here passes
 * elsewhere; `npm run test:random` draws others, and finds what no fixed seed does. A failure names its seed:
 * BACKHAUL_TEST_SEED=<number> repeats it.
 */
export const TEST_SEED = readSeed(process.env['BACKHAUL_TEST_SEED']);

function readSeed(text = '1'): number {
  const seed = text === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(text);
  if (!Number.isInteger(seed))
    throw new Error(`BACKHAUL_TEST_SEED=${text}: takes a whole number or "random".`);
  return seed;
}

/**
 * How many cases a property test takes: few in `npm test`, a third of many in the long form, whose cases are the same
 * every time, and all where new ones are drawn.
 */
export function countCases(few: number, many: number): number {
  if (process.env['BACKHAUL_TEST_SEED'] !== undefined) return many;
  return ALL ? Math.ceil(many / 3) : few;
}
