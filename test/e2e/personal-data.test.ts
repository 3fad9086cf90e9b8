import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport, runBackhaul } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

/** What a manifest hashes is in clear in parts and rejects of staging, and nowhere else. */
const TIMEOUT_MS = 120_000;
const API_KEY = 'phc_hashed';
const HASH_KEY = 'a key that only the tests have';
const SECRETS = ['Jürgen', 'jürgen@', 'ida@', 'kim@', 'lena@', 'omar@', 'nora@', HASH_KEY];
const hash = (text: string) => createHmac('sha256', HASH_KEY).update(text).digest('hex');

const HEADER = ['nr', 'kunde', 'mail', 'aktion', 'zeit', 'betrag', 'aktiv', 'posten', 'profil'];
const cell = (value: unknown) =>
  `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`;
const ROWS: readonly (readonly unknown[])[] = [
  [
    '1',
    'Jürgen',
    'jürgen@example.com',
    'k',
    '2024-07-03 04:05:06',
    '1.234,5',
    'true',
    [
      { sku: 'a', for: 'ida@example.com' },
      { sku: 'b', for: 'kim@example.com' },
    ],
    { mail: 'jürgen@example.com', level: 2 },
  ],
  ['2', 'Jürgen', '', 'Storno', '2024-07-04 04:05:06', '7', 'false', [{ sku: 'c' }], {}],
  // Rejects, each of which would show what it holds.
  ['3', 'Lena', 'lena@example.com', 'k', '2024-07-03 04:05:06', '1', '', [{}], '{"mail":"lena@example.com"'],
  [
    '4',
    'Omar',
    'omar@example.com',
    'k',
    '2024-07-03 04:05:06',
    'viel',
    '',
    [{ for: 'omar@example.com' }],
    {},
  ],
  ['5', 'Nora', 'nora@example.com'],
];

afterEach(killAllBackhaul);

it(
  'hashed data arrives as hashes, with types, meanings, constants and an event for each item',
  async ({ onTestFinished }) => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    const destination = await startStrictDestination({ apiKey: API_KEY });
    onTestFinished(() => destination.stop());
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const text = [HEADER, ...ROWS].map((row) => `${row.map(cell).join(';')}\n`).join('');
    writeFileSync(join(workplace.folder, 'export.csv'), Buffer.from(text, 'latin1'));
    const manifest = workplace.manifest({
      name: 'hashed',
      source: {
        type: 'csv',
        from: 'export.csv',
        delimiter: ';',
        encoding: 'windows-1252',
        timezone: 'Europe/Vienna',
        mapping: {
          event: { column: 'aktion' },
          distinctId: { column: 'kunde' },
          timestamp: { column: 'zeit' },
          key: ['nr'],
          person: { set: { columns: ['mail'] } },
          jsonColumns: ['profil'],
          hash: {
            columns: ['kunde', 'mail', 'profil.mail', 'posten.for'],
            key: '${BACKHAUL_HASH_KEY}',
          },
          unnest: { column: 'posten' },
          types: { betrag: { number: { decimal: ',', group: '.' } }, aktiv: 'boolean' },
          values: { aktion: { k: 'Käufer' } },
          constants: { shop: 'Wien' },
        },
      },
      rejects: { failAbove: '90%' },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
    });
    const dataDir = workplace.dataDir('embedded');
    const backhaul = (...args: string[]) =>
      runBackhaul(args, {
        dataDir,
        env: {
          BACKHAUL_PROJECT_API_KEY: API_KEY,
          BACKHAUL_HASH_KEY: HASH_KEY,
          BACKHAUL_LOG_LEVEL: 'trace',
          REDIS_URL: redis.url,
        },
      });

    const page = join(workplace.folder, 'plan.html');
    const planned = await backhaul('plan', '--html', page, manifest);
    expect(planned.code, planned.stderr).toBe(0);
    const whole = await backhaul('plan', '--full', '--json', manifest);
    expect(whole.code, whole.stderr).toBe(0);
    const ended = await backhaul('run', '--json', manifest);
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended).counts).toMatchObject({ read: 5, delivered: 2, rejected: 3 });
    const told = [
      planned,
      whole,
      ended,
      await backhaul('report', 'hashed'),
      await backhaul('status', 'hashed'),
    ];

    const events = [...destination.events().values()];
    const buyer = hash('Jürgen');
    const arrived = events
      .filter(({ event }) => !event.startsWith('$'))
      .map(({ event, distinctId, timestamp, properties: { posten, profil, betrag, aktiv, shop } }) => ({
        ...{ event, distinctId, timestamp, posten, profil, betrag, aktiv, shop },
      }));
    const first = {
      event: 'Käufer',
      distinctId: buyer,
      timestamp: '2024-07-03T02:05:06.000Z',
      betrag: 1234.5,
      aktiv: true,
      shop: 'Wien',
      profil: { mail: hash('jürgen@example.com'), level: 2 },
    };
    expect(arrived).toHaveLength(3);
    expect(arrived).toEqual(
      expect.arrayContaining([
        { ...first, posten: { sku: 'a', for: hash('ida@example.com') } },
        { ...first, posten: { sku: 'b', for: hash('kim@example.com') } },
        expect.objectContaining({ event: 'Storno', betrag: 7, aktiv: false, posten: { sku: 'c' } }),
      ]),
    );
    // What of the person was hashed is the same wherever it was.
    expect(JSON.stringify(events.filter(({ event }) => event.startsWith('$')))).toContain(
      hash('jürgen@example.com'),
    );

    const places: [string, string][] = [
      ...told.map(({ stdout, stderr }, at): [string, string] => [`command ${at}`, stdout + stderr]),
      ['page', readFileSync(page, 'utf8')],
      ['destination', JSON.stringify(events)],
      ...readStaging(join(dataDir, 'staging')),
    ];
    expect(places.length).toBeGreaterThan(12);
    const found = places.flatMap(([place, content]) =>
      SECRETS.filter((secret) => content.includes(secret)).map((secret) => `${place}: ${secret}`),
    );
    expect(found).toEqual([]);
  },
  TIMEOUT_MS,
);

/** What staging holds beside parts and rejects, which keep records as they were exported. */
function readStaging(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes(`${sep}parts${sep}`) && !path.includes(`${sep}rejects${sep}`))
    .map((path) => [path, decode(readFileSync(path))]);
}

function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  try {
    return text + gunzipSync(bytes).toString('utf8');
  } catch {
    return text;
  }
}
