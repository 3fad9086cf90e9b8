import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * The files that take longest, longest first. They mostly wait for other programs or for a clock: begun
 * early, they end before the others do. A file that is missing here only starts later.
 */
const SLOWEST = [
  'test/chaos/stop',
  'test/chaos/kill',
  'test/services/chaos-s3',
  'test/e2e/bad-input',
  'test/cli/manage',
  'test/cli/deletions',
  'test/cli/commands',
  'test/server/capture/process',
  'test/embedded/api-process',
  'test/cli/demo',
  'test/cli/worker',
  'test/e2e/twice',
  'test/deliver/redis-budget',
  'test/deliver/deliver',
  'test/server/server',
  'test/runtime/reach-redis',
  'test/cli/seed',
  'test/deliver/redis-budget-fleet',
  'test/e2e/strict-faults',
  'test/cli/replay',
  'test/setup/setup',
];
const PROJECTS = ['process', 'database', 'unit'];

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
