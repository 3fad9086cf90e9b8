import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import { BackhaulError, getMessage } from '../../src/lib/errors.ts';
import { listRejects } from '../../src/migrations/rejects/rejects.ts';
import type { Report } from '../../src/migrations/report/report.ts';
import { loadReport } from '../../src/migrations/report.ts';
import { type RunResult, resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { openRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { isLedgerKey } from '../../src/state/keys/ledger.ts';
import { ALL } from '../support/form.ts';
import { importing, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import type { ReplyTo, StoredEvent } from '../support/strict-destination.ts';

/**
 * Every object of staging is removed, cut off, changed and replaced, one at a time, at four moments of a migration.
 * A resume then ends with the same events and the same books, or says what is wrong and what to do. All of them take
 * half an hour: BACKHAUL_TEST_EVERY_OBJECT=1. The long form takes every 17th; `npm test` takes one object of every
 * other kind at one moment, with one kind of damage, beside test/migrations/damage.test.ts.
 */
const EVERY = process.env['BACKHAUL_TEST_EVERY_OBJECT'] !== undefined;
const NAME = 'whole';
const TIMEOUT_MS = EVERY ? 3_600_000 : ALL ? 600_000 : 120_000;

type Objects = ReadonlyMap<string, Buffer>;

/** How far a migration had come. */
interface Moment {
  readonly what: string;
  readonly objects: Objects;
  readonly events: readonly StoredEvent[];
}

let lab: MigrationLab;
const moments: Moment[] = [];
/** Of a run that nothing was done to. */
let reference: { readonly report: Report; readonly rejects: string; readonly events: readonly string[] };

beforeAll(async () => {
  lab = await openMigrationLab();
  const loaded = await lab.writeManifest(NAME, {
    source: { type: 'segment', from: `${NAME}/*.json` },
    limits: { requestsInFlight: 1, batch: { events: 2 } },
  });
  lab.writeFile(NAME, 'a.json', [
    call('track', 1, { event: 'Lost', userId: 'anna', originalTimestamp: 'yesterday' }),
    call('track', 2, { event: 'Seen', userId: 'anna', anonymousId: 'device-1' }),
    call('track', 3, { event: 'Seen', userId: 'bert', anonymousId: 'device-2' }),
    call('track', 4, { event: 'Seen', userId: 'anna', anonymousId: 'shared' }),
    call('track', 5, { event: 'Seen', userId: 'bert', anonymousId: 'shared' }),
    call('identify', 6, { userId: 'anna', traits: { plan: 'free', city: 'Graz' } }),
    call('group', 7, { userId: 'anna', groupId: 'acme', traits: { size: 7 } }),
  ]);
  lab.writeFile(NAME, 'b.json', [
    call('track', 2, { event: 'Seen', userId: 'anna', anonymousId: 'device-1' }),
    call('track', 8, { event: 'Seen', userId: 'bert' }),
    call('identify', 9, { userId: 'bert', traits: { plan: 'paid' } }),
    call('track', 10, { event: 'Lost', userId: 'bert', originalTimestamp: 'never' }),
  ]);

  const reach = async (what: string, act: () => Promise<RunResult>, reply?: ReplyTo) => {
    lab.destination.overrule(reply);
    const end = await act();
    lab.destination.overrule(undefined);
    expect(end, what).toMatchObject(reply ? { kind: 'held', state: 'paused' } : { kind: 'finished' });
    const objects = await loadObjects(lab.runtime.staging);
    moments.push({ what, objects, events: [...lab.destination.events().values()] });
  };
  const resume = () => resumeMigration(lab.runtime, NAME, importing());
  const before = lab.destination.events().size;
  const refuse = { status: 401, body: '{}' };
  await reach(
    'staged',
    () => startMigration(lab.runtime, loaded, importing()),
    () => refuse,
  );
  await reach('within the parts', resume, () =>
    lab.destination.events().size < before + 4 ? undefined : refuse,
  );
  await reach('before persons', resume, (_, text) => (text.includes('$identify') ? refuse : undefined));
  await reach('finished', resume);
  const rejects = await listRejects(lab.runtime, NAME);
  reference = {
    report: await loadReport(lab.runtime, NAME),
    rejects: JSON.stringify(rejects),
    events: listEvents(),
  };
}, TIMEOUT_MS);
afterAll(() => lab?.close());

function call(type: string, n: number, more: object): string {
  const originalTimestamp = `2024-02-03T04:05:${String(n).padStart(2, '0')}Z`;
  const calls = { type, messageId: `m-${n}`, originalTimestamp, timestamp: originalTimestamp, ...more };
  return JSON.stringify(calls);
}

const listEvents = () => [...lab.destination.events().values()].map(toText).toSorted();
const toText = ({ uuid, event, distinctId, timestamp, properties }: StoredEvent) =>
  `${uuid} ${event} ${distinctId} ${timestamp} ${JSON.stringify(properties)}`;

async function loadObjects(staging: Staging): Promise<Objects> {
  const objects = new Map<string, Buffer>();
  for await (const { key } of staging.list('')) objects.set(key, (await staging.get(key)) ?? Buffer.alloc(0));
  return objects;
}

/** Staging and destination as they were; Redis has lost all but the count of sent events. */
async function goBackTo({ objects, events }: Moment): Promise<void> {
  const { staging } = lab.runtime;
  const now = await loadObjects(staging);
  for (const key of now.keys()) if (!objects.has(key)) await staging.remove(key);
  for (const [key, body] of objects) if (!now.get(key)?.equals(body)) await staging.put(key, body);
  const stored = lab.destination.events();
  stored.clear();
  for (const event of events) stored.set(event.uuid, event);
  const keys = await lab.redis.keys('{bh}:*');
  const lost = keys.filter((key) => !key.startsWith('{bh}:budget:'));
  if (lost.length > 0) await lab.redis.del(lost);
}

/** What becomes of an object; undefined: it is removed. */
type Damage = (body: Buffer, key: string, objects: Objects) => Buffer | undefined;

const isDigit = (byte: number) => byte >= 0x30 && byte < 0x39;
const DAMAGES: Readonly<Record<string, Damage>> = {
  'is gone': () => undefined,
  'is cut off': (body) => body.subarray(0, body.length / 2),
  'is empty': () => Buffer.alloc(0),
  'has another first digit': (body) => change(body, body.findIndex(isDigit)),
  'has another last digit': (body) => change(body, body.findLastIndex(isDigit)),
  'has another byte': (body) => change(body, Math.floor(body.length / 2)),
  'is that of another': (body, key, objects) => {
    const others = [...objects].filter(([other, bytes]) => other !== key && !bytes.equals(body));
    return (others.find(([other]) => toKind(other) === toKind(key)) ?? others[0])?.[1] ?? body;
  },
};

/** The same one, where there is none such byte. */
function change(body: Buffer, at: number): Buffer {
  const changed = Buffer.from(body);
  if (at >= 0 && at < changed.length) changed[at] = (changed[at] ?? 0) + 1;
  return changed;
}

/** Keys without names, hashes and numbers. */
const toKind = (key: string) =>
  key
    .replace(`${NAME}/`, 'name/')
    .replace('first/', 'name/')
    .replaceAll(/[0-9a-f]{8,}|\d+/g, 'N');

interface Case {
  readonly moment: Moment;
  readonly key: string;
  readonly damage: string;
}

/**
 * Those that were believed once: another migration was run, its repeats were taken off, nobody's persons sent, and an
 * event refused that was not.
 */
const ALWAYS = [
  ['finished', 'name/repeats/N/result.json', 'is that of another'],
  ['staged', 'name/epochs/N', 'is that of another'],
  ['before persons', 'name/people/turns/', 'has another byte'],
  ['finished', 'name/people/ended/', 'has another last digit'],
];

function listCases(): Case[] {
  const all = moments.flatMap((moment) =>
    [...moment.objects.keys()].flatMap((key) =>
      Object.keys(DAMAGES).map((damage) => ({ moment, key, damage })),
    ),
  );
  if (EVERY) return all;
  // No multiple of the kinds of damage, so each comes as often.
  if (ALL) return all.filter((_, number) => number % 17 === 0);
  const byKind = new Map<string, Case[]>();
  // Of ledgers: test/migrations/persons/lost-ledger.test.ts.
  for (const one of all.filter(({ key }) => !isLedgerKey(key)))
    byKind.set(toKind(one.key), [...(byKind.get(toKind(one.key)) ?? []), one]);
  const kinds = [...byKind.values()].filter((_, number) => number % 2 === 0);
  const some = kinds.flatMap((cases, number) => cases[(number * 13) % cases.length] ?? []);
  const always = ALWAYS.flatMap(([what, kind = '', damage]) =>
    all.filter(
      (one) => one.moment.what === what && one.damage === damage && toKind(one.key).startsWith(kind),
    ),
  );
  return [...some, ...always];
}

async function attempt<T>(act: () => Promise<T>): Promise<T | Error> {
  try {
    return await act();
  } catch (error) {
    return error instanceof Error ? error : new Error(getMessage(error));
  }
}

/** What is wrong about the end of a case; undefined where it ended well, or in a refusal that helps. */
async function findFault({ moment, key, damage }: Case, runtime: Runtime): Promise<string | undefined> {
  const { staging } = runtime;
  const body = moment.objects.get(key) ?? Buffer.alloc(0);
  const damaged = DAMAGES[damage]?.(body, key, moment.objects);
  if (damaged?.equals(body)) return undefined;
  await goBackTo(moment);
  if (damaged) await staging.put(key, damaged);
  else await staging.remove(key);

  const seen = [
    await attempt(() => loadReport(runtime, NAME)),
    await attempt(() => listRejects(runtime, NAME)),
  ];
  const end = await attempt(() => resumeMigration(runtime, NAME, importing()));
  for (const failed of [...seen, end].filter((each) => each instanceof Error)) {
    if (!(failed instanceof BackhaulError)) return `a raw error: ${failed.stack}`;
    if (!ADVICE.test(failed.message)) return `no advice: ${failed.message}`;
  }
  const foreign = listEvents().filter((text) => !reference.events.includes(text));
  if (foreign.length > 0) return `sent what it should not: ${foreign.join('; ')}`;
  const [first] = seen;
  if (moment.what === 'finished' && first && 'balanced' in first && first.balanced) {
    if (!isSame(first.counts, reference.report.counts)) return `reported ${JSON.stringify(first.counts)}`;
  }
  if (end instanceof Error)
    return / or resume /.test(end.message) ? `advises what was just done: ${end.message}` : undefined;
  if (end.kind !== 'finished') {
    const why = 'report' in end ? [...end.report.problems, ...end.report.unfinished.failures] : end.reason;
    return why.length > 0 ? undefined : `${end.kind} without a reason`;
  }
  const { counts, balanced, people } = end.report;
  if (!balanced || !isSame(counts, reference.report.counts)) return `finished with ${JSON.stringify(counts)}`;
  // What a turn came to is in its own document alone: without it the report says that it does not count all.
  if (people.lost === undefined && people.persons < reference.report.people.persons)
    return `finished with ${people.persons} persons`;
  const lost = reference.events.filter((text) => !listEvents().includes(text));
  if (lost.length > 0) return `lost ${lost.join('; ')}`;
  const rejects = JSON.stringify(await listRejects(runtime, NAME));
  return rejects === reference.rejects ? undefined : `finished with rejects ${rejects}`;
}

// A byte of the manifest may be that of the name of a variable.
const ADVICE = /restore|put .* back|remove|resume|check|run|; set /i;
const isSame = (a: object, b: object) => JSON.stringify(a) === JSON.stringify(b);

it(
  'whichever object of staging is damaged, a resume ends the same or says what to do',
  async () => {
    const faults: string[] = [];
    for (const one of listCases()) {
      // A process that knows a later epoch than the staging that it goes back to would take it for a zombie's.
      const runtime = await openRuntime(lab.settings, lab.env, { api: false }, pino({ level: 'silent' }));
      const fault = await findFault(one, runtime).finally(() => runtime.close());
      if (fault !== undefined) faults.push(`${one.moment.what}: ${one.key} ${one.damage}: ${fault}`);
    }
    expect(faults).toEqual([]);
  },
  TIMEOUT_MS,
);
