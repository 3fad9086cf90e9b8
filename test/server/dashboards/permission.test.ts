import { expect, test } from 'vitest';
import type { Caller } from '../../../src/server/auth/access.ts';
import { computePrivilege, mayRestrict } from '../../../src/server/dashboards/permission.ts';

const caller = (userId: number, memberLevel: number): Caller => ({ projectId: 1, userId, memberLevel });

test.each([
  // restriction, caller, invited at, may do
  [21, caller(2, 1), undefined, 37],
  [37, caller(2, 1), undefined, 21],
  [37, caller(2, 1), 21, 21],
  [37, caller(2, 1), 37, 37],
  [37, caller(1, 1), undefined, 37],
  [37, caller(2, 8), undefined, 37],
  [37, caller(2, 15), undefined, 37],
] as const)(
  'a dashboard at %i gives %o, invited at %s, privilege %i',
  (restriction, who, invited, privilege) => {
    expect(computePrivilege({ createdBy: 1, restriction }, who, invited)).toBe(privilege);
  },
);

test('creator and administrators alone change the restriction', () => {
  const dashboard = { createdBy: 1, restriction: 37 } as const;
  expect(mayRestrict(dashboard, caller(1, 1))).toBe(true);
  expect(mayRestrict(dashboard, caller(2, 8))).toBe(true);
  expect(mayRestrict(dashboard, caller(2, 1))).toBe(false);
  expect(mayRestrict({ ...dashboard, createdBy: null }, caller(2, 1))).toBe(false);
});
