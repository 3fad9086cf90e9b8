import { afterAll, beforeAll, describe, it } from 'vitest';
import { type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { expectNothingOfRemoved, STAGING_STEPS } from '../support/removed-meanwhile.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

describe('a producer that wakes after its migration was removed and another one has its name', () => {
  it.each(Object.entries(STAGING_STEPS))('leaves nothing, where it slept before %s', (where, step) =>
    expectNothingOfRemoved(lab, where.replaceAll(' ', '-'), step),
  );
});
