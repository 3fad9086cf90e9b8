import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStaging } from '../support/memory-staging.ts';
import { importPeople, type Rows } from './connected-people.ts';
import { createTestLedger } from './ledgers.ts';

/** What the vendor knows of its persons, from exported rows to persons at the bundled API. */

const staging = createMemoryStaging();
let rows = 0;

const seen = (amplitudeId: number, device: string | undefined, user?: string, day = 1) => ({
  event_type: 'opened',
  event_time: `2023-01-0${day} 10:00:00.000000`,
  uuid: `00000000-0000-4000-8000-${String(++rows).padStart(12, '0')}`,
  amplitude_id: amplitudeId,
  device_id: device,
  user_id: user,
});
const joined = (from: number, into: number) => ({
  amplitude_id: from,
  merged_amplitude_id: into,
  merge_event_time: '2023-01-02 00:00:00.000000',
});
const call = (type: string, fields: Record<string, unknown>, day = 1) => ({
  type,
  messageId: `m${++rows}`,
  timestamp: `2023-01-0${day}T10:00:00.000Z`,
  ...(type === 'track' ? { event: 'opened' } : {}),
  ...fields,
});

/** Rows in any order, cut into files anywhere. */
const shuffledAndCut = (all: Rows) =>
  fc
    .tuple(
      fc.shuffledSubarray([...all], { minLength: all.length }),
      fc.array(fc.nat(all.length), { maxLength: 4 }),
    )
    .map(([order, cuts]) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), order.length];
      return edges.slice(1).map((end, at) => order.slice(edges[at], end));
    });

const SMALL = { runBytes: 200, foldBytes: 400 };

async function expectAlways(type: string, all: Rows, expected: object) {
  await fc.assert(
    fc.asyncProperty(shuffledAndCut(all), fc.boolean(), async (parts, isSmall) => {
      const one = await importPeople(staging, type, parts, createTestLedger(), isSmall ? SMALL : undefined);
      expect(one).toMatchObject({ warnings: [], ...expected });
    }),
    { numRuns: 40 },
  );
}

describe('ids of one amplitude_id', () => {
  it('are one person where one user is among them, whatever device an anonymous event was on', async () => {
    await expectAlways(
      'amplitude',
      [seen(1, 'phone', 'ada'), seen(1, 'tablet'), seen(1, 'tv'), seen(2, 'other')],
      {
        persons: ['ada phone tablet tv', 'other'],
        people: { pairs: 3, setAside: {} },
      },
    );
  });

  it('stay apart where they are of several users, whom no merge of the service makes one', async () => {
    const { persons, people } = await importPeople(staging, 'amplitude', [
      [seen(1, 'phone', 'ada@old', 1), seen(1, 'laptop', 'ada@new', 2), seen(1, 'tv')],
    ]);
    expect(persons).toEqual(['ada@new laptop', 'ada@old phone', 'tv']);
    expect(people).toMatchObject({
      setAside: { several_users: 1 },
      setAsideSample: [{ reason: 'several_users', id: '1', users: ['ada@old', 'ada@new'], userCount: 2 }],
    });
  });

  it('stay apart where no user is among them: merging two devices would keep either from its user later', async () => {
    const { persons, people } = await importPeople(staging, 'amplitude', [
      [seen(1, 'phone'), seen(1, 'tv'), seen(2, 'alone')],
    ]);
    expect(persons).toEqual(['alone', 'phone', 'tv']);
    expect(people).toMatchObject({
      setAside: { no_user: 1 },
      setAsideSample: [{ id: '1', users: ['phone', 'tv'] }],
    });
  });

  it('are two persons where they are of two projects, whatever is joined in each', async () => {
    const rows = [
      { ...seen(7, 'phone'), app: 1 },
      { ...seen(7, 'laptop', 'bob'), app: 2 },
      { ...seen(8, 'tablet'), app: 2 },
      joined(8, 7),
    ];
    await expectAlways('amplitude', rows, { persons: ['bob laptop tablet', 'phone'] });
  });

  it('leave a device alone that is of two amplitude_ids with a user each', async () => {
    await expectAlways(
      'amplitude',
      [seen(1, 'phone', 'ada'), seen(2, 'laptop', 'bob'), seen(1, 'tv'), seen(2, 'tv')],
      {
        persons: ['ada phone', 'bob laptop', 'tv'],
        people: { pairs: 2, setAside: { shared_device: 1 } },
      },
    );
  });

  it('never merge an id that is junk or a user itself', async () => {
    const { persons, people } = await importPeople(staging, 'amplitude', [
      [
        seen(1, 'phone', 'ada'),
        seen(1, 'bob'),
        seen(2, 'laptop', 'bob'),
        seen(3, 'null', 'cy'),
        seen(3, 'pad', 'null'),
      ],
    ]);
    expect(persons).toEqual(['ada phone', 'bob laptop', 'cy pad']);
    expect(people.setAside).toEqual({ already_identified: 1 });
  });

  it('are joined by the rows of a file of merged ids, wherever it lies', async () => {
    const all = [
      seen(1, 'phone'),
      seen(2, 'phone2'),
      seen(3, 'laptop', 'ada'),
      joined(1, 2),
      joined(2, 3),
      seen(4, 'other', 'bob'),
      joined(9, 8),
    ];
    await expectAlways('amplitude', all, { persons: ['ada laptop phone phone2', 'bob other'] });
  });

  it('are joined by rows with the times of an export to S3, which are numbers', async () => {
    const times = { merge_time: 1_672_740_000_000, merge_server_time: 1_672_740_000_123 };
    const merged = { scope: 1, ...times, amplitude_id: 1, merged_amplitude_id: 2 };
    const rows = [seen(1, 'phone'), seen(2, 'laptop', 'ada'), merged];
    const { persons } = await importPeople(staging, 'amplitude', [rows]);
    expect(persons).toEqual(['ada laptop phone']);
  });

  it('are decided over all that earlier migrations said', async () => {
    const ledger = createTestLedger();
    await importPeople(staging, 'amplitude', [[seen(1, 'phone', 'ada')]], ledger);
    const { people } = await importPeople(
      staging,
      'amplitude',
      [[seen(1, 'laptop', 'bob'), seen(1, 'tv')]],
      ledger,
    );
    expect(people).toMatchObject({ pairs: 1, setAside: { several_users: 1 } });
  });
});

describe.each(['segment', 'rudderstack'])('a user who was renamed by an alias call of %s', (type) => {
  it('is one person with all devices, in every order of records and files', async () => {
    const all = [
      call('track', { userId: 'ada@old', anonymousId: 'phone' }),
      call('identify', { userId: 'ada@old', traits: { plan: 'a' } }),
      call('alias', { previousId: 'ada@old', userId: 'ada@new' }, 2),
      call('identify', { userId: 'ada@new', anonymousId: 'phone' }, 3),
      call('track', { userId: 'ada@new', anonymousId: 'laptop' }, 4),
      call('track', { anonymousId: 'phone' }),
      call('track', { userId: 'bob', anonymousId: 'pad' }),
    ];
    await expectAlways(type, all, {
      persons: ['ada@new ada@old laptop phone', 'bob pad'],
      people: { pairs: 4, setAside: {} },
    });
  });

  it('is one person after several names', async () => {
    const all = [
      call('track', { userId: 'a', anonymousId: 'd1' }),
      call('track', { userId: 'b', anonymousId: 'd2' }),
      call('track', { userId: 'c', anonymousId: 'd3' }),
      call('alias', { previousId: 'a', userId: 'b' }),
      call('alias', { previousId: 'b', userId: 'c' }),
    ];
    await expectAlways(type, all, { persons: ['a b c d1 d2 d3'] });
  });

  it('stays apart where the calls contradict one another', async () => {
    const users = ['a', 'b', 'c'].map((userId) => call('track', { userId, anonymousId: `d-${userId}` }));
    const circle = [
      call('alias', { previousId: 'a', userId: 'b' }),
      call('alias', { previousId: 'b', userId: 'a' }),
    ];
    await expectAlways(type, [...users, ...circle], {
      persons: ['a d-a', 'b d-b', 'c d-c'],
      people: { setAside: { already_identified: 2 } },
    });
    const twice = [
      call('alias', { previousId: 'a', userId: 'b' }),
      call('alias', { previousId: 'a', userId: 'c' }),
    ];
    await expectAlways(type, [...users, ...twice], { persons: ['a d-a', 'b d-b', 'c d-c'] });
  });

  it('stays apart where an earlier migration may have merged somebody into the old id', async () => {
    const ledger = createTestLedger();
    await importPeople(staging, type, [[call('track', { userId: 'a', anonymousId: 'd' })]], ledger);
    const { people } = await importPeople(
      staging,
      type,
      [[call('alias', { previousId: 'a', userId: 'b' })]],
      ledger,
    );
    expect(people).toMatchObject({ pairs: 0, setAside: { already_identified: 1 } });
  });

  it('stays one person when the same is said again', async () => {
    const ledger = createTestLedger();
    const all = [
      call('track', { userId: 'a', anonymousId: 'd' }),
      call('alias', { previousId: 'a', userId: 'b' }),
      call('track', { userId: 'b' }),
    ];
    expect((await importPeople(staging, type, [all], ledger)).people.pairs).toBe(2);
    const again = await importPeople(staging, type, [[...all, call('track', { userId: 'a' }, 5)]], ledger);
    expect(again.people).toMatchObject({ pairs: 0, mergedBefore: 2, setAside: {} });
  });
});

describe('more statements than are kept in memory', () => {
  const KEPT = { joined: 1000, renamed: 1000, candidates: 1000 };
  const chains = Array.from({ length: 8 }, (_, index) => [
    call('track', { userId: `a${index}`, anonymousId: `d${index}` }),
    call('alias', { previousId: `a${index}`, userId: `b${index}` }),
    // A device that is no user; the most frequent alias call there is.
    call('alias', { previousId: `e${index}`, userId: `b${index}` }),
    call('alias', { previousId: `b${index}`, userId: `c${index}` }),
    call('track', { userId: `b${index}` }),
  ]).flat();
  const run = (type: string, all: Rows, kept: Partial<typeof KEPT>) =>
    importPeople(staging, type, [all], createTestLedger(), SMALL, { ...KEPT, ...kept });

  it('changes nothing for renamed users, who are looked for a few at a time', async () => {
    const all = await run('segment', chains, {});
    expect(all.persons).toContain('a0 b0 c0 d0 e0');
    expect(all.people.setAside).toEqual({});
    for (const candidates of [1, 3]) {
      const { persons, people } = await run('segment', chains, { candidates });
      expect({ persons, people }).toEqual({ persons: all.persons, people: all.people });
    }
  });

  it('leaves the users beyond the limit apart, counts them and shows some', async () => {
    const { persons, people, warnings } = await run('segment', chains, { renamed: 5 });
    expect(warnings).toEqual([]);
    expect(people.setAside).toMatchObject({ over_limit: 11 });
    expect(people.setAsideSample).toContainEqual({
      reason: 'over_limit',
      id: expect.stringMatching(/^[ab]\d$/),
      users: [expect.stringMatching(/^[bc]\d$/)],
    });
    expect(persons.length).toBeGreaterThan(8);
    expect((await run('segment', chains, { renamed: 16 })).people.setAside).toEqual({});
  });

  it('leaves the joined persons beyond the limit apart and counts them', async () => {
    const rows = Array.from({ length: 6 }, (_, index) => [
      seen(10 + index, `phone${index}`),
      seen(20 + index, `laptop${index}`, `user${index}`),
      joined(10 + index, 20 + index),
    ]).flat();
    const { people, persons } = await run('amplitude', rows, { joined: 8 });
    expect(people.setAside).toEqual({ over_limit: 2 });
    expect(persons).toHaveLength(8);
    expect((await run('amplitude', rows, { joined: 12 })).people.setAside).toEqual({});
  });
});

describe('unique users by month', () => {
  const at = (day: number) => `2023-0${1 + Math.floor(day / 3)}-0${1 + (day % 3)}`;
  const amplitudeRow = fc
    .record({ person: fc.nat(3), device: fc.nat(3), user: fc.option(fc.nat(3)), day: fc.nat(8) })
    .map(({ person, device, user, day }) => ({
      ...seen(person + 1, `d${device}`, user === null ? undefined : `u${user}`),
      event_time: `${at(day)} 10:00:00.000000`,
    }));
  const segmentRow = fc
    .record({ device: fc.option(fc.nat(3)), user: fc.option(fc.nat(3)), day: fc.nat(8) })
    .filter(({ device, user }) => device !== null || user !== null)
    .map(({ device, user, day }) => ({
      ...call('track', {
        ...(device === null ? {} : { anonymousId: `d${device}` }),
        ...(user === null ? {} : { userId: `u${user}` }),
      }),
      timestamp: `${at(day)}T10:00:00.000Z`,
    }));

  it.each([
    ['amplitude', amplitudeRow, countAmplitude],
    ['segment', segmentRow, countSegment],
  ] as const)('are as %s counts them, and as they are at the destination', async (type, row, countVendor) => {
    const all = fc.array<Record<string, unknown>>(row, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(all, fc.nat(12), fc.boolean(), async (list, cut, isSmall) => {
        const parts = [list.slice(0, cut), list.slice(cut)];
        const limits = isSmall ? SMALL : undefined;
        const { people, uniques } = await importPeople(staging, type, parts, createTestLedger(), limits);
        const vendor = countVendor(list);
        const expected = Object.keys(uniques).map((month) => [
          month,
          { vendor: vendor.get(month) ?? 0, destination: uniques[month] },
        ]);
        expect(people.uniques).toEqual(Object.fromEntries(expected));
      }),
      { numRuns: 100 },
    );
  });

  it('count persons that were joined as one', async () => {
    const all = [seen(1, 'phone'), seen(2, 'laptop', 'ada'), joined(1, 2)];
    const { people } = await importPeople(staging, 'amplitude', [all]);
    expect(people.uniques).toEqual({ '2023-01': { vendor: 1, destination: 1 } });
  });
});

function countMonths(pairs: Iterable<readonly [month: string, user: string]>): Map<string, number> {
  const months = new Map<string, Set<string>>();
  for (const [month, user] of pairs) months.set(month, (months.get(month) ?? new Set()).add(user));
  return new Map([...months].map(([month, users]) => [month, users.size]));
}

const countAmplitude = (list: Rows) =>
  countMonths(list.map((row) => [String(row['event_time']).slice(0, 7), String(row['amplitude_id'])]));

function countSegment(list: Rows): Map<string, number> {
  const month = (row: Rows[number]) => String(row['timestamp']).slice(0, 7);
  const known = new Set(
    list.filter(({ userId }) => userId).map((row) => `${month(row)} ${String(row['anonymousId'])}`),
  );
  return countMonths(
    list.flatMap((row): [string, string][] => {
      if (row['userId']) return [[month(row), `user ${String(row['userId'])}`]];
      const id = `${month(row)} ${String(row['anonymousId'])}`;
      return known.has(id) ? [] : [[month(row), id]];
    }),
  );
}
