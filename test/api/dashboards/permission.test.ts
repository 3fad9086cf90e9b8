import { expect, test } from 'vitest';
import type { Asker } from '../../../src/api/asker.ts';
import { mayRestrict, privilegeOf } from '../../../src/api/dashboards/permission.ts';

const asker = (userId: number, memberLevel: number): Asker => ({ projectId: 1, userId, memberLevel });

test.each([
  // restriction, asker, invited at, may do
  [21, asker(2, 1), undefined, 37],
  [37, asker(2, 1), undefined, 21],
  [37, asker(2, 1), 21, 21],
  [37, asker(2, 1), 37, 37],
  [37, asker(1, 1), undefined, 37],
  [37, asker(2, 8), undefined, 37],
  [37, asker(2, 15), undefined, 37],
] as const)(
  'a dashboard at %i gives %o, invited at %s, privilege %i',
  (restriction, who, invited, privilege) => {
    expect(privilegeOf({ createdBy: 1, restriction }, who, invited)).toBe(privilege);
  },
);

test('creator and administrators alone change the restriction', () => {
  const dashboard = { createdBy: 1, restriction: 37 } as const;
  expect(mayRestrict(dashboard, asker(1, 1))).toBe(true);
  expect(mayRestrict(dashboard, asker(2, 8))).toBe(true);
  expect(mayRestrict(dashboard, asker(2, 1))).toBe(false);
  expect(mayRestrict({ ...dashboard, createdBy: null }, asker(2, 1))).toBe(false);
});
