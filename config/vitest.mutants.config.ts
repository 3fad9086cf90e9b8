import { defineConfig } from 'vitest/config';

/** `npm run mutants`: one test for each mutant of the catalogue, one after the other. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/mutants/notice.ts'],
    reporters: ['verbose'],
  },
});
