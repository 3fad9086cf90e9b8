import { expect, it } from 'vitest';
import { toTerms } from '../../src/cli/commands/schedule/change.ts';
import { ConfigError } from '../../src/lib/errors.ts';

const block = { cron: '0 6 * * *', timezone: 'UTC', lagMinutes: 30 };

it('takes --lag for whole minutes alone, so that an empty variable does not become no lag', () => {
  expect(toTerms(block, {}, 'move.yaml')).toEqual(block);
  expect(toTerms(block, { lag: '0' }, 'move.yaml')).toEqual({ ...block, lagMinutes: 0 });
  for (const lag of ['', ' ', '0x10', '1e2', '1.5', '-1', 'abc', '525601'])
    expect(() => toTerms(block, { lag }, 'move.yaml')).toThrow(ConfigError);
});
