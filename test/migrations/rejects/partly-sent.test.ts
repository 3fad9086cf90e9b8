import { afterAll, beforeAll, expect, it } from 'vitest';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { startMigration } from '../../../src/migrations/start.ts';
import { verifyMigration } from '../../../src/migrations/verify/verify.ts';
import { countStored } from '../../support/count-stored.ts';
import { importing, type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';

/** Records of several events, of which the destination has accepted some when the record is rejected. */
let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const DAY = '2024-02-03T04:05:06Z';

const MAPPING = {
  event: { column: 'items.e' },
  distinctId: { column: 'u' },
  timestamp: { column: 't' },
  unnest: { column: 'items' },
  key: ['n'],
};

const load = (name: string, more: object = {}) =>
  lab.writeManifest(name, {
    source: { type: 'jsonl', from: `${name}/*.json`, mapping: MAPPING, ...more },
    rejects: { failAbove: '100%' },
  });

const cart = (name: string, n: number, ...items: readonly object[]) =>
  JSON.stringify({ u: `user-${name}`, t: DAY, n: `${name}-${n}`, items });

const refuseOddEvents = (_: unknown, text: string) =>
  text.includes('"Odd"') ? { status: 400, body: '{"type":"validation_error"}' } : undefined;

/** Of three events of one record the destination takes two. */
async function refuseOne(name: string): Promise<string> {
  const partly = cart(name, 1, { e: 'Seen' }, { e: 'Odd' }, { e: 'Bought' });
  const loaded = await load(name);
  lab.writeFile(name, 'a.json', [partly, cart(name, 2, { e: 'Seen' })]);
  lab.destination.overrule(refuseOddEvents);
  const ended = await startMigration(lab.runtime, loaded, importing());
  lab.destination.overrule(undefined);
  expect(ended).toMatchObject({
    report: { counts: { delivered: 1, rejected: 1 }, events: { accepted: 3, distinct: 3 } },
  });
  return partly;
}

const verify = async (name: string) => {
  const { comparisons, unexplained } = await verifyMigration(lab.runtime, name, {
    openCounts: async (wanted) => countStored(lab.destination, wanted),
  });
  const { old, now } = comparisons[0]?.total ?? {};
  return { old, now, unexplained };
};

const equal = (count: number) => ({ old: count, now: count, unexplained: 0 });

const replay = async (name: string, more: object = {}, acceptRefusals = false) =>
  replayRejects(
    lab.runtime,
    name,
    { loaded: await load(name.replace(/\..*/, ''), more) },
    importing({ acceptRefusals }),
  );

it('counts what a top-up delivers of a record that was refused in part once', async () => {
  const partly = await refuseOne('topped');
  lab.writeFile('topped', 'b.json', [partly]);
  const loaded = await load('topped');
  lab.writeFile('topped', 'a.json', [partly, cart('topped', 2, { e: 'Seen' })]);
  expect(await startMigration(lab.runtime, loaded, importing({ topUp: true }))).toMatchObject({
    report: { balanced: true, counts: { delivered: 2, rejected: 1 }, events: { accepted: 6, distinct: 4 } },
  });
  expect(await verify('topped')).toEqual(equal(4));
  // It was only the top-up that knew, so the reject is left; sending the rest of it changes nothing.
  expect(await replay('topped')).toMatchObject({ report: { events: { accepted: 1 } } });
  expect(await verify('topped')).toEqual(equal(4));
});

it('sends of a record that was refused in part what was refused', async () => {
  await refuseOne('partly');
  expect(await verify('partly')).toEqual(equal(3));
  expect(await replay('partly')).toMatchObject({
    report: { balanced: true, counts: { read: 1, delivered: 1 }, events: { accepted: 1, distinct: 1 } },
  });
  expect(await verify('partly')).toEqual(equal(4));
});

it('still knows what was accepted in a replay of a replay', async () => {
  await refuseOne('twice');
  lab.destination.overrule(refuseOddEvents);
  const refused = await replay('twice', {}, true).finally(() => lab.destination.overrule(undefined));
  expect(refused).toMatchObject({
    report: { counts: { read: 1, rejected: 1 }, events: { sent: 1, accepted: 0 } },
  });
  expect(await replay('twice.replay-1')).toMatchObject({
    report: { counts: { read: 1, delivered: 1 }, events: { sent: 1, accepted: 1, distinct: 1 } },
  });
  expect(await verify('twice')).toEqual(equal(4));
});

it('skips a record all of whose other events were accepted, where the corrected map makes no more', async () => {
  await refuseOne('dropped');
  expect(await replay('dropped', { dropEvents: ['Odd'] })).toMatchObject({
    report: { balanced: true, counts: { read: 1, skipped: 1 }, byReason: { sent_before: 1 } },
  });
  expect(await verify('dropped')).toEqual(equal(3));
});

it('sends of records that collide the events that collide, once more under ids of their own', async () => {
  const loaded = await load('carts');
  lab.writeFile('carts', 'a.json', [
    cart('carts', 1, { e: 'Seen' }, { e: 'Bought', v: 'one' }),
    cart('carts', 1, { e: 'Left' }, { e: 'Bought', v: 'two' }),
  ]);
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({
    report: { counts: { delivered: 1, rejected: 1 }, events: { accepted: 4, distinct: 3 } },
  });
  expect(await replay('carts')).toMatchObject({
    report: { counts: { read: 2, delivered: 2 }, events: { accepted: 2, distinct: 2 } },
  });
  expect(await verify('carts')).toEqual(equal(5));
});

/** What the destination has of the events of one migration, with the property in which they differ. */
const listStored = (name: string) =>
  [...lab.destination.events().values()]
    .filter(({ distinctId }) => distinctId === `user-${name}`)
    .map(({ event, properties }) => `${event} ${(properties['items'] as { v?: string }).v ?? ''}`.trim())
    .toSorted();

type Records = readonly (readonly object[])[];

/** Files of records with one id: the first is imported, the others are a top-up. */
async function writeCarts(name: string, files: readonly Records[]) {
  const loaded = await load(name);
  for (const [number, records] of files.entries()) {
    const lines = records.map((items) => cart(name, 1, ...items));
    lab.writeFile(name, `${number}.json`, lines);
  }
  return loaded;
}

/** The destination refuses every event "Odd" of them. */
async function refuseOdd(name: string, ...files: readonly Records[]) {
  const loaded = await writeCarts(name, files);
  lab.destination.overrule(refuseOddEvents);
  const ended = await startMigration(lab.runtime, loaded, importing({ topUp: files.length > 1 }));
  lab.destination.overrule(undefined);
  return ended;
}

const bought = (v: string) => ({ e: 'Bought', v });
const ODD = { e: 'Odd' };

// Of two contents the one with the smaller hash stays; both orders are tried, so the refused record has either.
it.each([
  ['stays', 'one', 'two'],
  ['collides', 'two', 'one'],
])('loses no event that was accepted of a record refused in part: one %s', async (name, mine, other) => {
  const records = [
    [ODD, bought(mine)],
    [{ e: 'Left' }, bought(other)],
  ];
  expect(await refuseOdd(name, records)).toMatchObject({
    report: { balanced: true, events: { accepted: 3, distinct: 2 } },
  });
  expect(await verify(name)).toEqual(equal(2));
  // What was refused goes under the vendor's id, and what collided of the same record under one of its own.
  expect(await replay(name)).toMatchObject({ report: { balanced: true, counts: { delivered: 3 } } });
  const stored = listStored(name);
  expect(stored).toEqual(expect.arrayContaining(['Bought one', 'Bought two', 'Left', 'Odd']));
  expect(stored).toHaveLength(5);
  expect(await verify(name)).toEqual(equal(5));
});

it.each([
  ['equal-stays', 'one', 'two'],
  ['equal-collides', 'two', 'one'],
])('sends equal records that were refused in part once: %s', async (name, mine, other) => {
  const partly = [ODD, bought(mine)];
  const first = [partly, [{ e: 'Left' }, bought(other)], partly];
  await refuseOdd(name, first);
  const topped = await refuseOdd(name, first, [partly]);
  expect(topped).toMatchObject({ report: { balanced: true, events: { distinct: 2 } } });
  expect(await replay(name)).toMatchObject({ report: { balanced: true } });
  expect(listStored(name).filter((event) => event !== `Bought ${mine}`)).toEqual(
    expect.arrayContaining([`Bought ${other}`, 'Left', 'Odd']),
  );
  expect(listStored(name)).toHaveLength(5);
  expect(await verify(name)).toEqual(equal(5));
});

it('sends what was refused under the uuid that a top-up gave it, beside a record that collides', async () => {
  const partly = [ODD, bought('one')];
  const first = [partly, [{ e: 'Left' }, bought('two')]];
  await refuseOdd('topped-up', first);
  const loaded = await writeCarts('topped-up', [first, [partly]]);
  expect(await startMigration(lab.runtime, loaded, importing({ topUp: true }))).toMatchObject({
    report: { balanced: true, events: { distinct: 3 } },
  });
  expect(await replay('topped-up')).toMatchObject({ report: { balanced: true } });
  const stored = listStored('topped-up');
  expect(stored).toEqual(expect.arrayContaining(['Bought one', 'Bought two', 'Left', 'Odd']));
  expect(stored).toHaveLength(5);
  expect(await verify('topped-up')).toEqual(equal(5));
});

it('lets what collided of a record refused in part hold no id against a replay', async () => {
  const refused = [
    [ODD, bought('two')],
    [{ e: 'Left' }, bought('one')],
  ];
  const late = JSON.stringify({
    ...{ u: 'user-family', t: 'later', n: 'family-1' },
    items: [{ e: 'Right' }, bought('two')],
  });
  const loaded = await writeCarts('family', [refused]);
  lab.writeFile('family', 'late.json', [late]);
  lab.destination.overrule(refuseOddEvents);
  await startMigration(lab.runtime, loaded, importing());
  lab.destination.overrule(undefined);
  const corrected = { mapping: { ...MAPPING, values: { t: { later: DAY } } } };
  // What its migration rejected is not what stays, so this replay rejects its own, and the next one sends it.
  expect(await replay('family', corrected)).toMatchObject({
    report: { balanced: true, counts: { read: 4, delivered: 3, rejected: 1 } },
  });
  await replay('family.replay-1', corrected);
  expect(listStored('family').filter((event) => event === 'Bought two').length).toBeGreaterThan(1);
});
