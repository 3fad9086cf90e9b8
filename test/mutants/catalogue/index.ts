import type { Equivalent, Mutant } from '../mutant.ts';
import { DELIVER_MUTANTS } from './deliver.ts';
import { EMBEDDED_MUTANTS } from './embedded.ts';
import { IDENTITY_MUTANTS } from './identity.ts';
import { LEDGER_MUTANTS } from './ledger.ts';
import { MIGRATIONS_MUTANTS } from './migrations.ts';
import { PIPELINE_MUTANTS } from './pipeline.ts';
import { SERVER_MUTANTS } from './server.ts';
import { SOURCES_MUTANTS } from './sources.ts';
import { STATE_MUTANTS } from './state.ts';

export const MUTANTS: readonly Mutant[] = [
  ...DELIVER_MUTANTS,
  ...EMBEDDED_MUTANTS,
  ...IDENTITY_MUTANTS,
  ...LEDGER_MUTANTS,
  ...MIGRATIONS_MUTANTS,
  ...PIPELINE_MUTANTS,
  ...SERVER_MUTANTS,
  ...SOURCES_MUTANTS,
  ...STATE_MUTANTS,
];

/** Tried and found to change nothing that anybody could observe. */
export const EQUIVALENTS: readonly Equivalent[] = [];
