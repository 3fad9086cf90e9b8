import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * The files that take longest in the long form, longest first. They mostly wait for other programs or for a clock:
 * begun early, they end before the others do. A file that is missing here only starts later.
 */
const SLOWEST = [
  'test/chaos/partition',
  'test/chaos/storm',
  'test/e2e/odd-person',
  'test/chaos/stop-hung',
  'test/services/removed-meanwhile-s3',
  'test/e2e/time-left',
  'test/chaos/wipes',
  'test/services/shared-slices',
  'test/services/chaos-s3',
  'test/e2e/documented-commands',
  'test/services/replay-s3',
  'test/deploy/rehearsal',
  'test/migrations/redis-outage',
  'test/services/guide-server',
  'test/chaos/stop',
  'test/migrations/rejects/random-histories',
  'test/services/schedule-s3',
  'test/chaos/bundled',
  'test/migrations/persons/wrong-merges',
  'test/e2e/bad-input',
  'test/migrations/rejects/removed-original',
  'test/services/move-s3',
  'test/migrations/every-object',
  'test/cli/deletions',
  'test/cli/worker',
  'test/migrations/persons/lost-work',
  'test/migrations/persons/released-together',
  'test/migrations/persons/lost-ledger',
  'test/services/guide',
  'test/chaos/asleep',
  'test/server/actors/same-number',
  'test/deliver/deliver',
  'test/migrations/persons/removed-exports',
  'test/cli/commands',
  'test/e2e/no-proof',
  'test/migrations/persons/split-exports',
  'test/e2e/move',
  'test/migrations/persons/damaged-others',
  'test/migrations/persons/sleepers',
  'test/migrations/persons/lost-persons',
  'test/migrations/persons/ledger',
  'test/e2e/hung-storage',
  'test/e2e/staging-gone',
  'test/migrations/rejects/two-attempts',
  'test/migrations/persons/windows',
  'test/migrations/persons/histories',
  'test/server/operations/browser',
  'test/embedded/api-process',
  'test/jobs/delete-events',
  'test/cli/manage',
  'test/runtime/reach-redis',
  'test/chaos/kill',
  'test/cli/rehearse',
  'test/server/database/move/move-database',
  'test/e2e/two-installations',
  'test/server/capture/process',
  'test/cli/persons',
  'test/cli/database',
];
const PROJECTS = ['alone', 'process', 'database', 'unit'];

/** The slowest files, and then project by project: workers are shared by files of one project. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byTime = await super.sort(files);
    return byTime.sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const slow = SLOWEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return slow === -1 ? SLOWEST.length + PROJECTS.indexOf(project.name) : slow;
}
