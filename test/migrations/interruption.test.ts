import { describe, expect, it } from 'vitest';
import {
  ConfigError,
  FencedOutError,
  PreflightError,
  SourceError,
  UnavailableError,
} from '../../src/lib/errors.ts';
import { toInterruption } from '../../src/migrations/interruption.ts';
import { RefusedError } from '../../src/migrations/life-store.ts';
import { ControlError } from '../../src/migrations/run/lease.ts';

const begun = { migration: 'shop', begun: true, failed: new AbortController().signal };

describe('what ends a run early', () => {
  it('is a result that can be resumed, when the other side is down', () => {
    expect(toInterruption(new UnavailableError('staging does not answer'), begun)).toEqual({
      kind: 'unavailable',
      migration: 'shop',
      reason: 'staging does not answer',
      begun: true,
    });
  });

  it('is the death of an embedded part, whatever was thrown because of it', () => {
    const failed = AbortSignal.abort(new Error('Redis died five times'));
    expect(toInterruption(new TypeError('socket closed'), { ...begun, failed })).toMatchObject({
      kind: 'unavailable',
      reason: 'Redis died five times',
    });
  });

  it('has the reason of a pause', () => {
    const paused = toInterruption(new ControlError('paused'), { ...begun, reason: 'the key is wrong' });
    expect(paused).toEqual({
      kind: 'held',
      migration: 'shop',
      state: 'paused',
      reason: 'the key is wrong',
    });
  });

  it('is a stop when the signal of the caller was aborted, and only then', () => {
    const reason = new Error('Stopped; everything so far is saved');
    const stop = AbortSignal.abort(reason);
    expect(toInterruption(reason, { ...begun, stop })).toMatchObject({
      kind: 'stopped',
      reason: reason.message,
    });
    expect(() => toInterruption(reason, { ...begun, stop: new AbortController().signal })).toThrow(reason);
  });

  it.each([
    ['superseded', new FencedOutError('another process runs it')],
    ['approval_needed', new PreflightError('it holds 30 million events')],
    ['refused', new RefusedError('already_running', 'it is being run by process 7')],
  ])('is %s, with the message of the error', (kind, error) => {
    expect(toInterruption(error, begun)).toMatchObject({ kind, reason: error.message });
  });

  it('is an outage that can be resumed, or a sentence for the operator, as the code of a reply says', () => {
    const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });
    expect(toInterruption(reply('ERR max number of clients reached'), begun)).toMatchObject({
      kind: 'unavailable',
      reason: 'Redis cannot be used now: ERR max number of clients reached',
    });
    const refused = () => toInterruption(reply('WRONGPASS invalid username-password pair'), begun);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow('Correct them in REDIS_URL');
    const foreign = new Error('WRONGPASS is what somebody wrote');
    expect(() => toInterruption(foreign, begun)).toThrow(foreign);
  });

  it('stays the error that it is when continuing would not help', () => {
    const broken = new SourceError('export.zip is cut off');
    expect(() => toInterruption(broken, begun)).toThrow(broken);
  });
});
