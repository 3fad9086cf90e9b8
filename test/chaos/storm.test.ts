import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { killAllBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { type Radosgw, startRadosgw } from '../support/radosgw.ts';
import { createRandom } from '../support/seeded-random.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace, writeExports } from '../support/workplace.ts';
import { drawFault } from './storm-faults.ts';
import { type Drawn, listUnjustified, type Round, renderResumes, renderStorm } from './storm-tally.ts';
import {
  createStormWorld,
  expectSameOutcome,
  type Outcome,
  readOutcome,
  renderOutcome,
  type StormWorld,
} from './storm-world.ts';

/**
 * Random faults of every kind, one after the other, over as many migrations as it takes; half of them have
 * their staging on S3. Each ends with the events and persons of an undisturbed run, and is resumed exactly once
 * for each killed or frozen producer and each designed pause (no proof, flood of 400), never otherwise.
 * `npm run test:storm` draws 100 unless BACKHAUL_TEST_FAULTS says otherwise; BACKHAUL_TEST_SEED draws others.
 */
const FAULTS = Number(process.env['BACKHAUL_TEST_FAULTS'] ?? 8);
/** Two rounds at least: one over a folder, one over S3. */
const FAULTS_OF_A_ROUND = Math.min(12, Math.ceil(FAULTS / 2));
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
    `${FAULTS} of them change nothing about what arrives, and ask for no resume that they need not`,
    async () => {
      const random = createRandom(TEST_SEED);
      const rounds: Round[] = [];
      let left = FAULTS;
      try {
        while (left > 0) {
          const drawn: Drawn[] = [];
          const onS3 = rounds.length % 2 === 1 ? s3 : undefined;
          const name = `storm-${rounds.length + 1}`;
          world = await createStormWorld(workplace, { name, s3: onS3, bucket: BUCKET });
          const round = { storage: onS3 ? 'S3' : 'folder', drawn, resumes: 0 } satisfies Round;
          rounds.push(round);
          await rage(world, drawn, Math.min(left, FAULTS_OF_A_ROUND), random);
          left -= drawn.length;
          const ended = await world.producer().ended;
          round.resumes = world.countResumes();
          console.info(`${name} on ${round.storage}: ${drawn.length} faults, ${renderResumes(round)}`);
          expectSameOutcome(readOutcome(world, ended), reference);
          expect(listUnjustified(round)).toEqual([]);
          await world.close();
          world = undefined;
        }
        console.info(
          `${renderStorm(rounds, TEST_SEED)}\n  every round exactly as undisturbed: ${renderOutcome(reference)}`,
        );
      } catch (error) {
        console.info(`${renderStorm(rounds, TEST_SEED)}\n  the last round failed`);
        throw error;
      }
    },
    TIMEOUT_MS,
  );
});

/** Draws faults until there are enough of them or the migration ends. */
async function rage(world: StormWorld, drawn: Drawn[], most: number, random: () => number): Promise<void> {
  const { destination } = world;
  await until('the first events', () => destination.arrivals.length > 0 || undefined);
  while (drawn.length < most) {
    const ended = await Promise.race([world.producer().ended, pause(500 + random() * 3000)]);
    if (ended !== undefined) return;
    const kind = drawFault(world, random);
    console.info(`${world.name}, fault ${drawn.length + 1}: ${kind.name}`);
    const end = await kind.act(world, random);
    drawn.push({ kind, end });
    if (end === 'killed' || end === 'paused') world.startResume();
  }
}
