import { it } from 'vitest';
import { untilAborted } from '../../src/cli/stop-signal.ts';

it('waits for a signal, and not for one that has come already', async () => {
  await untilAborted(AbortSignal.abort());
  const controller = new AbortController();
  const waited = untilAborted(controller.signal);
  controller.abort();
  await waited;
});
