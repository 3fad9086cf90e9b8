import fc from 'fast-check';
import { TEST_SEED } from './test-seed.ts';

// Runs before each file of tests (config/vitest.config.ts).
fc.configureGlobal({ seed: TEST_SEED });
