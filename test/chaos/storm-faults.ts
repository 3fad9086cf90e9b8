import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Ended } from '../support/backhaul-process.ts';
import type { Reply } from '../support/strict-destination.ts';
import type { Mood } from '../support/unsteady-proxy.ts';
import { until } from '../support/until.ts';
import type { Allowing, End } from './storm-tally.ts';
import type { StormWorld } from './storm-world.ts';

/** Does its harm, waits until it is over, and says what became of the producer. */
export type Fault = (world: StormWorld, random: () => number) => Promise<End>;

const HARM_MS = 3000;
/** Longer than a job's lock (30 s) and a lease (15 s) last. */
const ZOMBIE_MS = 36_000;
/** Longer than senders wait when the count of events is lost (a window and a request), twice. */
const FLOOD_MS = 240_000;
const RESUMABLE = 5;
/** Refused: another process holds the lease. */
const USAGE = 2;
/** The first line of progress. */
const HAS_BEGUN = /^\{"phase":/m;

const killProducer: Fault = async (world) => {
  const producer = world.producer();
  producer.kill('SIGKILL');
  const ended = await producer.ended;
  return ended.signal === 'SIGKILL' ? 'killed' : expectFinished(ended);
};

function expectFinished({ code, stderr }: Ended): 'finished' {
  expect(code, stderr).toBe(0);
  return 'finished';
}

const killWorker = satOut(async (world) => {
  world.startWorker();
  world.workers()[0]?.kill('SIGKILL');
});

/** A worker that sleeps until its parts are somebody else's, and wakes in the middle of a request. */
const zombieWorker = satOut(async (world) => {
  const [worker] = world.workers();
  world.startWorker();
  worker?.kill('SIGSTOP');
  await Promise.race([pause(ZOMBIE_MS), world.producer().ended]);
  worker?.kill('SIGCONT');
});

/** A producer that sleeps until another one has the lease must not go on when it wakes. */
const zombieProducer: Fault = async (world) => {
  const frozen = world.producer();
  // Without the lease it would be refused when it wakes, and rightly so.
  await until(
    'the producer to begin',
    () => HAS_BEGUN.test(frozen.stderr()) || !frozen.isRunning() || undefined,
  );
  if (!frozen.isRunning()) return expectFinished(await frozen.ended);
  frozen.kill('SIGSTOP');
  for (let next = world.startResume(); ; next = world.startResume()) {
    const refused = await until('a resume to begin or to be refused', async () =>
      HAS_BEGUN.test(next.stderr()) ? { code: 0 } : next.isRunning() ? undefined : next.ended,
    );
    if (refused.code !== USAGE) break;
    // The lease has not ended yet.
    world.noteRefused();
  }
  frozen.kill('SIGCONT');
  const { code, stderr } = await frozen.ended;
  expect(code, stderr).toBe(RESUMABLE);
  return 'superseded';
};

/** A fault that asks nothing of anybody: the producer continues, or finishes. */
function satOut(harm: (world: StormWorld, random: () => number) => Promise<void>): Fault {
  return async (world, random) => {
    await harm(world, random);
    return world.producer().isRunning() ? 'unaffected' : expectFinished(await world.producer().ended);
  };
}

const redisFull = satOut((world) =>
  world.withRedis(async (redis) => {
    await redis.config('SET', 'maxmemory', '1');
    await pause(HARM_MS);
    await redis.config('SET', 'maxmemory', '0');
  }),
);

/** As a replica that is not promoted yet: writes are refused with READONLY. */
const redisFailover = satOut((world) =>
  world.withRedis(async (redis) => {
    await redis.config('SET', 'replica-serve-stale-data', 'yes');
    await redis.replicaof('127.0.0.1', 1);
    await pause(HARM_MS);
    await redis.replicaof('NO', 'ONE');
  }),
);

const redisCrash = satOut(async (world) => {
  await world.redis.kill9();
  await pause(HARM_MS / 3);
  await world.redis.restart();
});

const redisWiped = satOut(async (world) => void (await world.withRedis((redis) => redis.flushall())));

const MOODS: readonly Mood[] = ['unavailable', 'resets', 'cuts'];

const s3Trouble = satOut(async ({ s3 }, random) => {
  s3?.setMood(MOODS[Math.floor(random() * MOODS.length)] ?? 'resets');
  await pause(HARM_MS);
  s3?.setMood('steady');
});

const NO_PROOF: readonly Reply[] = [
  { status: 200, body: '{"success":false}' },
  { status: 200, body: '{"errors":["no"]}' },
  { status: 200, body: '' },
  { status: 200, body: '{"status":1,"quota_limited":["events"]}' },
];
const UNPROVEN = /does not say that it took the events|quota is used up/;
const BLOCKED: Reply = { status: 400, body: '{"detail":"blocked"}' };

const noProof: Fault = (world, random) =>
  pauseByDestination(world, NO_PROOF[Math.floor(random() * NO_PROOF.length)], UNPROVEN);

const refuseAll: Fault = (world) => pauseByDestination(world, BLOCKED, /blocked/);

/**
 * The designed pause: the destination answers so until the producer ends resumable and says why, once and for
 * good. The producer may only finish where the destination was asked nothing any more.
 */
async function pauseByDestination(world: StormWorld, reply: Reply | undefined, reason: RegExp): Promise<End> {
  const over = new AbortController();
  const late = pause(FLOOD_MS, undefined, { signal: over.signal }).catch(() => undefined);
  let asked = 0;
  world.destination.overrule(() => {
    asked += 1;
    return reply;
  });
  const ended = await Promise.race([world.producer().ended, late]);
  over.abort();
  world.destination.overrule(undefined);
  if (ended === undefined) throw new Error(`no pause in ${FLOOD_MS} ms and ${asked} such answers`);
  if (asked === 0) return expectFinished(ended);
  expect(ended.code, ended.stderr).toBe(RESUMABLE);
  expect(ended.stderr).toMatch(/was paused/);
  expect(ended.stderr).toMatch(/nothing is lost/);
  expect(ended.stderr).toMatch(reason);
  return 'paused';
}

const trouble = satOut(async ({ destination }, random) => {
  const replies: Reply[] = [
    { status: 503, body: '' },
    { status: 500, body: '{"type":"server_error"}' },
    { status: 429, body: '{"detail":"slow down"}' },
    { status: 413, body: '{"detail":"too large"}' },
  ];
  const reply = replies[Math.floor(random() * replies.length)];
  destination.overrule(() => (random() < 0.6 ? reply : undefined));
  await pause(HARM_MS);
  destination.overrule(undefined);
});

export interface Kind extends Allowing {
  readonly act: Fault;
  /** How often it is drawn, relative to the others. Those that cost a minute are rarer. */
  readonly weight: number;
  readonly on?: 's3';
}

const KINDS: readonly Kind[] = [
  { name: 'the producer is killed', act: killProducer, ends: 'killed', weight: 3 },
  { name: 'a worker is killed', act: killWorker, weight: 3 },
  { name: 'a worker freezes and wakes as a zombie', act: zombieWorker, weight: 1 },
  { name: 'the producer freezes and wakes as a zombie', act: zombieProducer, ends: 'superseded', weight: 1 },
  { name: 'Redis is out of memory', act: redisFull, weight: 3 },
  { name: 'Redis is read-only during a failover', act: redisFailover, weight: 3 },
  { name: 'Redis crashes and starts again', act: redisCrash, weight: 2 },
  { name: 'Redis loses everything', act: redisWiped, weight: 1 },
  { name: 'S3 fails', act: s3Trouble, weight: 4, on: 's3' },
  { name: 'the destination answers without a proof', act: noProof, ends: 'paused', weight: 2 },
  { name: 'the destination answers 400 to everything', act: refuseAll, ends: 'paused', weight: 2 },
  { name: 'the destination is in trouble', act: trouble, weight: 3 },
];

/** Draws one of the kinds that fit the world. */
export function drawFault(world: StormWorld, random: () => number): Kind {
  const fitting = KINDS.filter(({ on }) => on === undefined || world.s3 !== undefined);
  let left = random() * fitting.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of fitting) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  throw new Error('no kind of fault was drawn');
}
