import { defineConfig } from 'vitest/config';
import { LeftOutReporter } from '../test/support/left-out-reporter.ts';
import { SlowestFirst } from '../test/support/slowest-first.ts';

const ROOT = new URL('..', import.meta.url).pathname;

/** Tests that measure the memory of their process, or replace a module of Node.js: a process for each file. */
const ALONE = ['test/sources/formats/read-records.test.ts', 'test/sources/files/vanishing.test.ts'];
/** Tests that start `backhaul`, its server or its set-up. */
const PROCESS = [
  'test/chaos/**',
  'test/cli/*',
  'test/e2e/**',
  'test/deploy/rehearsal.test.ts',
  'test/embedded/**',
  'test/runtime/**',
  'test/services/**',
  'test/setup/**',
  'test/server/*',
  'test/server/capture/process.test.ts',
  'test/server/database/pglite.test.ts',
  'test/server/operations/browser.test.ts',
];
/** Tests of the bundled API over a database (test/support/databases.ts). */
const DATABASE = ['test/clients/**', 'test/server/**'];

const toGlobs = (patterns: readonly string[]) =>
  patterns.map((each) => each.replace(/\*\*$/, '**/*').replace(/\*$/, '*.test.ts'));

/**
 * One queue of files for all projects. Files of a project share processes and their modules, whose loading
 * costs more than most of these tests. There are more workers than processors because the files in front
 * mostly wait for the programs that they start. The bounds only end what hangs: they leave room for a machine
 * with ten times the work that it has processors for.
 */
export default defineConfig({
  test: {
    root: ROOT,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    maxWorkers: 4,
    setupFiles: [`${ROOT}test/support/fix-seed.ts`],
    sequence: { sequencer: SlowestFirst },
    reporters: ['default', new LeftOutReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'process',
          include: toGlobs(PROCESS),
          isolate: false,
          globalSetup: `${ROOT}test/support/build.ts`,
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: toGlobs(DATABASE),
          exclude: toGlobs(PROCESS),
          isolate: false,
          globalSetup: `${ROOT}test/support/one-postgres.ts`,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: toGlobs([...PROCESS, ...DATABASE, ...ALONE]),
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
