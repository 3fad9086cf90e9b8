import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * The files that take longest, longest first. They mostly wait for other programs or for a clock: begun
 * early, they end before the others do. A file that is missing here only starts later.
 */
const SLOWEST = [
  // In the long form alone.
  'test/chaos/storm',
  'test/chaos/partition',
  'test/chaos/wipes',
  'test/chaos/bundled',
  'test/services/chaos-s3',
  'test/migrations/redis-outage',
  'test/services/shared-slices',
  'test/services/schedule-s3',
  'test/deploy/rehearsal',
  'test/server/actors/same-number',
  // In npm test, too.
  'test/e2e/odd-person',
  'test/deliver/budget/redis-budget',
  'test/deliver/budget/redis-budget-fleet',
  'test/chaos/kill',
  'test/chaos/stop',
  'test/server/capture/process',
  'test/cli/manage',
  'test/e2e/bad-input',
  'test/cli/deletions',
  'test/embedded/api-process',
  'test/cli/worker',
  'test/cli/demo',
  'test/cli/commands',
  'test/e2e/no-proof',
  'test/e2e/twice',
  'test/server/server',
  'test/runtime/reach-redis',
  'test/cli/seed',
  'test/e2e/strict-faults',
  'test/cli/replay',
  'test/setup/setup',
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
