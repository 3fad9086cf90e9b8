import { Queue } from 'bullmq';
import { afterEach, expect, it } from 'vitest';
import { QUEUE_PREFIX } from '../../jobs/catalog.ts';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { createJsonlBench, line, NAME, numbers } from './jsonl-bench.ts';

afterEach(killAllBackhaul);

it('a run says that a queue is paused, and continues once it is resumed', async (context) => {
  const redis = await startRedis();
  context.onTestFinished(() => redis.stop());
  const queue = new Queue('import-part', { connection: { url: redis.url }, prefix: QUEUE_PREFIX });
  context.onTestFinished(() => queue.close());
  // As the button of the queue dashboard does; Redis keeps it.
  await queue.pause();
  const bench = await createJsonlBench(context, { embedded: true, env: { REDIS_URL: redis.url } });
  bench.put(
    'a.json',
    numbers(0, 20)
      .map((n) => `${line(n)}\n`)
      .join(''),
  );

  const run = bench.run();
  const sentence = 'the queue import-part, which is paused: resume it on the queue dashboard';
  await until('the status to name the queue', async () => {
    const { stdout } = await bench.command('status', NAME, '--json');
    return stdout.includes(sentence) || undefined;
  });
  await queue.resume();
  const ended = await run;
  expect(ended.code, ended.stderr).toBe(0);
  expect(parseReport(ended)).toMatchObject({ balanced: true, counts: { delivered: 20 } });
});
