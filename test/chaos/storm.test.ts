import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { killAllBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { type Radosgw, startRadosgw } from '../support/radosgw.ts';
import { createRandom } from '../support/seeded-random.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace, writeExports } from '../support/workplace.ts';
import { drawFault } from './storm-faults.ts';
import {
  createStormWorld,
  expectSameOutcome,
  type Outcome,
  readOutcome,
  type StormWorld,
} from './storm-world.ts';

/**
 * Random faults of every kind, one after the other, over as many migrations as it takes; half of them have
 * their staging on S3. Each ends with the events and persons of an undisturbed run, and was resumed once for
 * each killed or frozen producer and each designed pause, never otherwise.
 * `npm run test:storm` sets BACKHAUL_TEST_FAULTS=100; BACKHAUL_TEST_SEED draws others.
 */
const FAULTS = Number(process.env['BACKHAUL_TEST_FAULTS'] ?? 8);
/** Two rounds at least: one over a folder, one over S3. */
const FAULTS_OF_A_ROUND = Math.min(12, Math.ceil(FAULTS / 2));
const SEED = Number(process.env['BACKHAUL_TEST_SEED'] ?? 1);
const TIMEOUT_MS = FAULTS * 60_000 + 300_000;
const BUCKET = 'backhaul-storm';
const FILES = 6;
const RECORDS = 1000;

describe.runIf(ALL || process.env['BACKHAUL_TEST_FAULTS'] !== undefined)('a storm of faults', () => {
  let workplace: Workplace;
  let s3: Radosgw | undefined;
  let reference: Outcome;
  let world: StormWorld | undefined;
  beforeAll(async () => {
    workplace = createWorkplace();
    await writeExports(workplace, { files: FILES, records: RECORDS });
    s3 = await startRadosgw();
    await s3?.createBucket(BUCKET);
    const calm = await createStormWorld(workplace, { name: 'calm', s3: undefined, bucket: BUCKET });
    reference = readOutcome(calm, await calm.producer().ended);
    await calm.close();
  }, TIMEOUT_MS);
  afterEach(async () => {
    await world?.close();
    await killAllBackhaul();
  });
  afterAll(async () => {
    await s3?.stop();
    await workplace.remove();
  });

  it(
    `${FAULTS} of them change nothing about what arrives`,
    async () => {
      const random = createRandom(SEED);
      let drawn = 0;
      for (let round = 1; drawn < FAULTS; round += 1) {
        const onS3 = round % 2 === 0 && s3 !== undefined;
        world = await createStormWorld(workplace, {
          name: `storm-${round}`,
          s3: onS3 ? s3 : undefined,
          bucket: BUCKET,
        });
        const { destination } = world;
        await until('the first events', () => destination.arrivals.length > 0 || undefined);
        const acted: string[] = [];
        for (;;) {
          const ended = await Promise.race([world.producer().ended, pause(500 + random() * 3000)]);
          if (ended !== undefined || drawn === FAULTS || acted.length === FAULTS_OF_A_ROUND) break;
          const { name, act } = drawFault(world, random);
          acted.push(name);
          drawn += 1;
          console.info(`round ${round}${onS3 ? ' on S3' : ''}, fault ${drawn}: ${name}`);
          await act(world, random);
        }
        const ended = await world.producer().ended;
        console.info(
          `round ${round}: ${acted.length} faults, resumes: ${world.resumes.join(', ') || 'none'}`,
        );
        expectSameOutcome(readOutcome(world, ended), reference);
        await world.close();
        world = undefined;
      }
    },
    TIMEOUT_MS,
  );
});
