import { describe, expect, it } from 'vitest';
import { EXIT, toExitCode } from '../../src/cli/exit-code.ts';
import { untilAborted } from '../../src/cli/stop-signal.ts';
import { stoppedBy } from '../../src/cli/stopped-by.ts';
import { FencedOutError, getMessage, SourceError, UnavailableError } from '../../src/lib/errors.ts';
import { ControlError } from '../../src/migrations/run/lease.ts';

const AGAIN = 'backhaul resume shop';

describe('what ends a run', () => {
  it('is a stop with the command that goes on, when the other side is down', () => {
    const stopped = stoppedBy(new UnavailableError('s3://staging does not answer.'), AGAIN);
    expect(toExitCode(stopped)).toBe(EXIT.stoppedResumable);
    expect(getMessage(stopped)).toBe(
      `s3://staging does not answer. Everything so far is saved. Go on with: ${AGAIN}`,
    );
  });

  it('is the death of an embedded part, whatever was thrown because of it', () => {
    const failed = AbortSignal.abort(new Error('Redis died five times'));
    const stopped = stoppedBy(new TypeError('socket closed'), AGAIN, { failed });
    expect(toExitCode(stopped)).toBe(EXIT.stoppedResumable);
    expect(getMessage(stopped)).toContain('Redis died five times');
  });

  it('is told with its reason when somebody paused the migration', () => {
    const stopped = stoppedBy(new ControlError('paused'), AGAIN, { reason: 'the key is wrong' });
    expect(getMessage(stopped)).toContain('The migration was paused: the key is wrong. ');
    expect(getMessage(stopped)).toContain(AGAIN);
  });

  it('names no command where another process goes on already', () => {
    const stopped = stoppedBy(new FencedOutError('another process drives it'), AGAIN);
    expect(toExitCode(stopped)).toBe(EXIT.stoppedResumable);
    expect(getMessage(stopped)).not.toContain(AGAIN);
  });

  it('stays what it is when going on would not help', () => {
    const broken = new SourceError('export.zip is cut off');
    expect(stoppedBy(broken, AGAIN, { failed: new AbortController().signal })).toBe(broken);
  });
});

it('waits for a signal, and not for one that has come already', async () => {
  await untilAborted(AbortSignal.abort());
  const controller = new AbortController();
  const waited = untilAborted(controller.signal);
  controller.abort();
  await waited;
});
