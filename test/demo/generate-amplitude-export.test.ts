import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { generateAmplitudeExport, type SampleOptions } from '../../src/demo/generate-amplitude-export.ts';
import type { SampleFacts } from '../../src/demo/sample-facts.ts';
import { createRecordParser } from '../../src/sources/formats/parse-record.ts';
import { createTestLedger, takeTestTurn } from '../identity/ledgers.ts';
import { createMapper } from '../sources/create-mapper.ts';
import { readZip } from './read-zip.ts';

const folder = await mkdtemp(join(tmpdir(), 'amplitude-export-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function generate(name: string, options: SampleOptions) {
  const path = join(folder, name);
  const facts = await generateAmplitudeExport(path, options);
  const members = new Map(
    [...(await readZip(path))].map(([member, body]) => [member, gunzipSync(body).toString()]),
  );
  return { facts, members, lines: [...members.values()].flatMap((text) => text.trimEnd().split('\n')) };
}

const digest = (members: ReadonlyMap<string, string>) =>
  createHash('sha256')
    .update(JSON.stringify([...members]))
    .digest('hex');

describe('the export of a demo', () => {
  let sample: Awaited<ReturnType<typeof generate>>;
  beforeAll(async () => {
    sample = await generate('demo.zip', {});
  });

  test('has as many records as asked for, in a member for each hour', () => {
    const { facts, members, lines } = sample;
    expect(lines).toHaveLength(50_000);
    expect(facts.records).toBe(50_000);
    expect(facts.members).toBe(members.size);
    expect(facts.bytes).toBe([...members.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0));
    expect(members.size).toBe(7 * 24);
    expect([...members.keys()].slice(0, 2)).toEqual([
      '187520/187520_2023-11-06_0#0.json.gz',
      '187520/187520_2023-11-06_1#0.json.gz',
    ]);
  });

  test('comes to what its facts say when it is read, mapped and folded', async () => {
    expect(await importAll(sample.lines)).toEqual(omitSizes(sample.facts));
  });

  test('holds everything that is awkward, and little enough of it', () => {
    const { facts, lines } = sample;
    const { rejected, skipped } = facts;
    for (const count of [...Object.values(rejected), ...Object.values(skipped), facts.duplicates]) {
      expect(count).toBeGreaterThan(0);
    }
    const rejects = rejected.no_identity + rejected.bad_timestamp + rejected.unreadable;
    expect(rejects / facts.records).toBeLessThan(0.01);
    expect(facts.persons.sharedDevices).toBe(1);
    for (const text of [
      '"user_id":7205759403792793601,',
      '"user_id":"007"',
      '"user_id":"123.456"',
      '🍕',
      '請求書',
    ]) {
      expect(lines.some((line) => line.includes(text))).toBe(true);
    }
    expect(lines.some((line) => /"order_id":\d{19}[,}]/.test(line))).toBe(true);
  });

  test('keeps its repeats among the records of the first part', () => {
    const seen = new Map<string, number>();
    for (const [number, line] of sample.lines.entries()) {
      const uuid = /"uuid":"([^"]+)"/.exec(line)?.[1];
      if (uuid === undefined) continue;
      if (seen.has(uuid)) {
        expect(number).toBeLessThan(7_000);
        expect(number - (seen.get(uuid) ?? 0)).toBe(1);
      }
      seen.set(uuid, number);
    }
  });
});

test('the same seed tells the same story, another seed another one', async () => {
  const options = { events: 3_000, people: 40 };
  const [a, b, c] = await Promise.all([
    generate('a.zip', options),
    generate('b.zip', options),
    generate('c.zip', { ...options, seed: 2 }),
  ]);
  expect(digest(b.members)).toBe(digest(a.members));
  expect(b.facts).toEqual(a.facts);
  expect(digest(c.members)).not.toBe(digest(a.members));
});

test.each([1, 23, 2_000])('an export of %d records comes to what its facts say as well', async (events) => {
  const { facts, lines } = await generate(`${events}.zip`, { events, persons: 20 });
  expect(facts.records).toBe(events);
  expect(await importAll(lines)).toEqual(omitSizes(facts));
});

test('a path that cannot be written to fails, and leaves nothing', async () => {
  await expect(generateAmplitudeExport(join(folder, 'missing', 'x.zip'), { events: 10 })).rejects.toThrow(
    'ENOENT',
  );
  expect(await readdir(folder)).not.toContain('missing');
});

type Expected = Omit<SampleFacts, 'members' | 'bytes'>;

const omitSizes = ({ members: _, bytes: __, ...facts }: SampleFacts): Expected => facts;

/** The pure part of an import, counted the way the facts are. */
async function importAll(lines: readonly string[]): Promise<Expected> {
  const parse = createRecordParser({ kind: 'json' }, undefined);
  const map = createMapper('amplitude');
  const facts: IdentityFact[] = [];
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  const byType = new Map<string, number>();
  const byDay = new Map<string, number>();
  const count = (of: Map<string, number>, key: string) => of.set(key, (of.get(key) ?? 0) + 1);

  for (const [index, line] of lines.entries()) {
    const parsed = parse({ kind: 'record', member: undefined, line: index + 1, bytes: Buffer.from(line) });
    const outcome = parsed.kind === 'rejected' ? parsed : map(parsed.value);
    if (outcome.kind === 'rejected') {
      count(counts, outcome.reason);
      continue;
    }
    facts.push(...outcome.facts);
    if (outcome.kind === 'skipped') {
      count(counts, outcome.reason);
      continue;
    }
    const [event] = outcome.events;
    if (!event || seen.has(event.uuid)) {
      count(counts, 'duplicate');
      continue;
    }
    seen.add(event.uuid);
    count(counts, 'delivered');
    count(byType, SOURCE_NAMES.get(event.event) ?? event.event);
    count(byDay, event.timestamp.slice(0, 10));
  }

  const { merges, unmerged, events } = await takeTestTurn(createTestLedger(), facts);
  const describes = (event: string) =>
    new Set(
      events
        .filter((one) => one.event === event && !('$anon_distinct_id' in one.properties))
        .map(({ properties }) => properties.distinct_id),
    ).size;
  const of = (name: string) => counts.get(name) ?? 0;
  return {
    records: lines.length,
    delivered: of('delivered'),
    skipped: {
      session_marker: of('session_marker'),
      feeds_people: of('feeds_people'),
      feeds_groups: of('feeds_groups'),
    },
    duplicates: of('duplicate'),
    rejected: {
      no_identity: of('no_identity'),
      bad_timestamp: of('bad_timestamp'),
      unreadable: of('unreadable'),
    },
    deliveredByType: Object.fromEntries(byType),
    deliveredByDay: Object.fromEntries(byDay),
    persons: {
      pairs: merges.length,
      sharedDevices: unmerged.filter(({ reason }) => reason === 'shared_device').length,
      persons: describes('$identify'),
      groups: describes('$group_identify'),
    },
  };
}

const SOURCE_NAMES = new Map([
  ['$pageview', '[Amplitude] Page Viewed'],
  ['$screen', '[Amplitude] Screen Viewed'],
]);
