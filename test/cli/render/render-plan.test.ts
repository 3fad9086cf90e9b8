import { expect, test } from 'vitest';
import { renderPlan } from '../../../src/cli/render/render-plan.ts';
import { mapped, rejected, skipped } from '../../../src/contract/outcome.ts';
import { buildPlan } from '../../../src/migrations/plan/build-plan.ts';
import {
  fitTo,
  formatBytes,
  formatMinutes,
  formatShare,
  wrap,
} from '../../../src/migrations/plan/format-text.ts';
import { planInput, sampled, signups, targetEvent } from '../../migrations/plan/plan-input.ts';

const LONG = 'very-long-'.repeat(30);

const awkward = buildPlan(
  planInput({
    migration: 'amplitude-2019-2024',
    destination: `https://${LONG}.example.com`,
    approval: { reference: `request ${LONG}` },
    sample: [
      {
        file: `exports/${LONG}.json.gz`,
        bytesRead: 100,
        recordsRead: 300,
        complete: false,
        records: [
          ...Array.from({ length: 20 }, (_, i) =>
            sampled(mapped([targetEvent(`Event ${i} ${LONG}`)]), { [`field_${i}_${LONG}`]: LONG }),
          ),
          sampled(
            mapped([
              targetEvent('купить 購入する購入する購入する購入する購入する購入する購入する 🎉🎉', {
                timestamp: '2025-12-31T23:00:00.000Z',
              }),
            ]),
          ),
          sampled(mapped([targetEvent('\u001b[2J\u202egone')])),
          sampled(skipped('session_marker')),
          sampled(rejected('no_identity', LONG)),
          sampled(rejected('bad_timestamp', `event_time "${'not a time '.repeat(20)}"`)),
        ],
      },
    ],
  }),
);

test('stays within 80 columns, whatever the data holds', () => {
  const text = renderPlan(awkward);
  const wide = /[\u2e80-\ua4cf]|\p{Extended_Pictographic}/u;
  const columns = (line: string) =>
    [...line].reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0);
  expect(text.split('\n').filter((line) => columns(line) > 80)).toEqual([]);
});

test('lets no control character or direction mark of the data reach the terminal', () => {
  expect(renderPlan(awkward)).toContain('·[2J·gone');
  for (const character of ['\u001b', '\u202e']) expect(renderPlan(awkward)).not.toContain(character);
});

test('reads as one page', () => {
  const plan = buildPlan(
    planInput({
      migration: 'amplitude-2019-2024',
      source: { type: 'amplitude', timezone: 'Europe/Berlin', knownFields: new Set(['user']) },
      sample: [
        {
          file: 'one.json.gz',
          bytesRead: 100,
          recordsRead: 10,
          complete: false,
          records: [
            ...signups(7),
            sampled(mapped([targetEvent('$pageview')]), { user: 'ada', dma: 'x' }),
            sampled(skipped('session_marker')),
            sampled(rejected('no_identity', 'user_id, device_id and amplitude_id are empty')),
          ],
        },
      ],
    }),
  );
  const GIB = 1024 ** 3;
  const staging = { packing: 'none', bytes: 9 * GIB, freeBytes: 77 * GIB, location: 'folder /data' } as const;
  expect(renderPlan({ ...plan, staging })).toMatchInlineSnapshot(`
    "Plan of migration "amplitude-2019-2024" (nothing was sent)
      source        amplitude, 1 file, 1000 B
      destination   https://analytics.example.com
      sample        10 records of 1 file
      records       about 100
      events        about 80, and synthetic ones for persons and groups
      time span     2023-05-01T12:00:00.000Z to 2023-05-01T12:00:00.000Z (sampled)
      staging       about 9.0 GiB of unpacked parts in folder /data; 77.0 GiB free
      zone          Europe/Berlin, for timestamps that carry none
      places        as the export names them; the service looks none up
                    ($geoip_disable). source.geoip takes a .mmdb file, or leaves it
                    to the service
      speed         at most 10,000 events a minute
      duration      under a minute at that speed

    Events                                                   sampled       estimated
      Signed up                                                    7              70
      $pageview                                                    1              10

    Fields: 1 read, 1 left behind (in so many sampled records)
      dma (1)

    A record of one.json.gz, and the event it becomes
      user: ada                             → event: Signed up
                                            → distinct_id: ada
                                            → timestamp: 2023-05-01T12:00:00.000Z
                                            → uuid: 6f0c1c9e-0f0a-5c55-9a52-5b1c2d3…
                                            → plan: pro

    A record of one.json.gz, and the event it becomes
      user: ada                             → event: $pageview
      dma: x                                → distinct_id: ada
                                            → timestamp: 2023-05-01T12:00:00.000Z
                                            → uuid: 6f0c1c9e-0f0a-5c55-9a52-5b1c2d3…
                                            → plan: pro

    A record of one.json.gz, and the event it becomes
      user: ada                             → event: Signed up
                                            → distinct_id: ada
                                            → timestamp: 2023-05-01T12:00:00.000Z
                                            → uuid: 6f0c1c9e-0f0a-5c55-9a52-5b1c2d3…
                                            → plan: pro

    Records that become no event                             sampled       estimated
      skipped: session_marker                                1 (10%)              10
      rejected: no_identity                                  1 (10%)              10
        for example, in one.json.gz: user_id, device_id and amplitude_id are empty

    Before an import
      [ ] The project is on a cloud region of the service.
      [ ] The plan is a paid one for product analytics (the import itself is free).
      [ ] A support request (target area Data Management) states source, method,
          volume and speed.
      [ ] The request is approved. (Backhaul insists on it above 20 million events
          or 10,000 events a minute.)
      [ ] Properties of groups are sent as "$group_identify". PostHog's own service
          acts on "$groupidentify" alone: set people.groupIdentifyEvent to it for
          that service.
      [ ] The import was rehearsed in a new project first (or with the bundled API:
          leave "destination" out of the manifest).
      [ ] Timestamps without a zone are in Europe/Berlin: compare an hour of the
          export with what the vendor shows.
      [!] Different records share an id: 1 id of the sample, such as
          6f0c1c9e-0f0a-5c55-9a52-5b1c2d3e4f50 (2 contents: Signed up, $pageview).
          One record of each id is delivered; the others are rejected as
          same_id_other_content, and \`rejects replay\` sends them under ids of their
          own.
      [x] No sampled event is younger than 48 hours.
    "
  `);
});

test('has no list of demands for the bundled API', () => {
  const text = renderPlan(buildPlan(planInput({ destination: undefined })));
  expect(text).toContain('the bundled API');
  expect(text).not.toContain('support request');
  expect(text).toContain('Timestamps without a zone are in UTC');
});

test('warns of young events and of a missing approval', () => {
  expect(renderPlan(awkward).replace(/\s+/g, ' ')).toContain(
    '[!] Younger than 48 hours, or in the future: 1 sampled event.',
  );
  const fast = { ...planInput().limits, eventsPerMinute: 50_000 };
  expect(renderPlan(buildPlan(planInput({ limits: fast })))).toContain('[!] The request is approved');
});

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KiB'],
  [5 * 1024 ** 3, '5.0 GiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0.2, 'under a minute'],
  [1, '1 min'],
  [59.5, '1 h'],
  [61, '1 h 1 min'],
  [1_440, '1 d'],
  [3_000, '2 d 2 h'],
])('%d minutes are %s', (minutes, text) => {
  expect(formatMinutes(minutes)).toBe(text);
});

test.each([
  [0, '0%'],
  [0.00001, '<0.01%'],
  [0.005, '0.5%'],
  [0.1234, '12.3%'],
])('a share of %d is %s', (share, text) => {
  expect(formatShare(share)).toBe(text);
});

test('cuts and pads to a width, counting wide characters twice', () => {
  expect(fitTo('abc', 5)).toBe('abc  ');
  expect(fitTo('abcdef', 5)).toBe('abcd…');
  expect(fitTo('購入', 4)).toBe('購入');
  expect(fitTo('購入購', 4)).toBe('購… ');
});

test('breaks lines at spaces and cuts what fits none', () => {
  expect(wrap(`${'a'.repeat(40)} ${'b'.repeat(40)} c`, '- ')).toEqual([
    `- ${'a'.repeat(40)}`,
    `  ${'b'.repeat(40)} c`,
  ]);
  expect(wrap('x'.repeat(100), '- ')[0]).toHaveLength(80);
});
