import { describe, expect, it } from 'vitest';
import { noteStop } from '../../../src/cli/show-run.ts';
import { toRunMessage, toStateMessage } from '../../../src/migrations/notify/message.ts';
import { isPrivateAddress } from '../../../src/migrations/notify/private-address.ts';
import { signMessage } from '../../../src/migrations/notify/sign.ts';

describe('a message', () => {
  const counts = { read: 1200, delivered: 1100, skipped: 0, duplicate: 0, rejected: 100 };
  const tell = (state: string, more: object = {}) => {
    const control = { state: state as 'running', reason: '', at: '2024-03-01T12:00:00.000Z', ...more };
    const facts = { migration: 'shop', migrationId: 'id', destination: 'https://d', report: undefined };
    return { ...facts, number: 7, tooManyRejects: false, control };
  };
  const read = (facts: Parameters<typeof toStateMessage>[0]) => {
    const { type, text } = JSON.parse(toStateMessage(facts)?.body ?? '{}');
    return [type, text];
  };

  it.each([
    [tell('running'), 'migration.continued', 'Migration shop to https://d continues'],
    [{ ...tell('running'), number: 1 }, 'migration.started', 'Migration shop to https://d has started'],
    [
      tell('paused', { reason: 'the key' }),
      'migration.paused',
      'Migration shop to https://d is paused (the key)',
    ],
    [tell('stopped'), 'migration.stopped', 'Migration shop to https://d has stopped'],
    [
      tell('stopped', { reason: noteStop('shop') }),
      'migration.stopped',
      'Migration shop to https://d has stopped: everything so far is saved; continue with: backhaul resume shop',
    ],
    [
      { ...tell('stopped'), report: { counts, isFailed: true } },
      'migration.failed',
      'Migration shop to https://d has failed: 1,200 records read, 1,100 delivered, 100 rejected',
    ],
    [
      { ...tell('finished'), report: { counts, isFailed: false }, tooManyRejects: true },
      'migration.rejects_above_threshold',
      'Migration shop to https://d has finished, with more rejects than its manifest allows: 1,200 records read, 1,100 delivered, 100 rejected',
    ],
    [{ ...tell('finished') }, 'migration.finished', 'Migration shop to https://d has finished'],
  ])('says in a sentence what has become of a migration', (facts, type, text) => {
    expect(read(facts)).toEqual([type, text]);
    expect(toStateMessage(facts)?.id).toBe(`id_${facts.number}`);
  });

  it('tells nobody of a removal, nor of a run of a schedule that is as it should be', () => {
    expect(toStateMessage(tell('removed'))).toBeUndefined();
    const at = '2024-03-01T12:00:00.000Z';
    const run = { due: at, startedAt: at, endedAt: at, outcome: 'failed', reason: 'x', files: 0 } as const;
    const type = (failures: number, missed: number) =>
      JSON.parse(toRunMessage('shop', 3, { ...run, failures, missed })?.body ?? '{}').type;
    expect([0, 1, 2, 3, 4].map((failures) => type(failures, 0))).toEqual([
      undefined,
      undefined,
      undefined,
      'schedule.failing',
      undefined,
    ]);
    expect(type(1, 2)).toBe('schedule.missed');
    // A run that found another process at work keeps the count, and tells nobody again.
    expect(toRunMessage('shop', 3, { ...run, outcome: 'busy', failures: 3, missed: 0 })).toBeUndefined();
    const text = (outcome: 'done' | 'held' | 'failed' | 'unable') =>
      JSON.parse(toRunMessage('shop', 3, { ...run, outcome, failures: 1, missed: 1 })?.body ?? '{}').text;
    expect([text('done'), text('held'), text('failed')]).toEqual([
      expect.stringMatching(/ 1 run was missed before .*, and made up for$/),
      expect.stringMatching(/, and what is new waits, as the migration is held$/),
      expect.stringMatching(/, and what came then failed$/),
    ]);
    expect(text('unable')).toMatch(
      /: 1 run was missed since .*, and no process could run what was due \(x\)$/,
    );
  });

  it('is signed as Standard Webhooks has it', () => {
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' };
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const { headers } = signMessage(message, { secret, now: new Date(1614265330_000) });
    expect(headers).toMatchObject({
      'webhook-id': message.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });
});

describe('an address', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.255',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'fd00::1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '::ffff:0:7f00:1',
    '192.88.99.1',
    '3fff::1',
    '5f00::1',
    'ff02::1',
    'localhost',
    '',
  ])('%s is private', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(['8.8.8.8', '172.15.255.255', '172.32.0.0', '100.63.255.255', '100.128.0.0', '2606:4700::1111'])(
    '%s is public',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false);
    },
  );
});
