import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinTimes } from '../../src/contract/heard-time.ts';
import { UserTimes } from '../../src/identity/merges/user-times.ts';

const seen = fc.tuple(fc.constantFrom('u1', 'u2', 'u3'), fc.constantFrom('2021', '2022', '2023'));

test('one user or several: each has its first time, as in a map', () => {
  fc.assert(
    fc.property(fc.array(seen, { minLength: 1 }), ([first, ...others]) => {
      const [user = '', time = ''] = first ?? [];
      const users = new UserTimes(user, time);
      const all = new Map([[user, time]]);
      for (const [one, at] of others) {
        const known = all.get(one);
        expect(users.add(one, at)).toBe(known === undefined);
        all.set(one, known === undefined ? at : joinTimes(known, at));
      }
      expect(users.list()).toEqual([...all]);
      expect(users.map).toEqual(all);
      expect(users.size).toBe(all.size);
      for (const one of ['u1', 'u2', 'u3']) {
        expect(users.get(one)).toBe(all.get(one));
        expect(users.has(one)).toBe(all.has(one));
      }
    }),
  );
});
