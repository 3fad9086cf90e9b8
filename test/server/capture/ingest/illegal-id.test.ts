import { expect, test } from 'vitest';
import { isIllegalId } from '../../../../src/server/capture/ingest/illegal-id.ts';

test.each([
  'anonymous',
  'Guest',
  'DISTINCT_ID',
  'null',
  'None',
  '0',
  'NaN',
  '[object Object]',
  '"undefined"',
  "'null'",
  ' ',
  '""',
])('knows that %j is nobody', (id) => expect(isIllegalId(id)).toBe(true));

test.each(['Null', 'nan', '00', 'user', 'guest1', '"user"', 'NONE'])('lets %j be somebody', (id) => {
  expect(isIllegalId(id)).toBe(false);
});
