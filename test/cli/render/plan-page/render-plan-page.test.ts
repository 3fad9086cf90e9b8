import { expect, test } from 'vitest';
import { renderPlanPage } from '../../../../src/cli/render/plan-page/render-plan-page.ts';
import { renderPlan } from '../../../../src/cli/render/render-plan.ts';
import { mapped, rejected, skipped } from '../../../../src/contract/outcome.ts';
import { buildPlan } from '../../../../src/migrations/plan/build-plan.ts';
import { planInput, sampled, targetEvent } from '../../../migrations/plan/plan-input.ts';

const HOSTILE = '<script>alert(1)</script>"\'\u202e';
const plan = buildPlan(
  planInput({
    migration: 'shop',
    source: { type: 'amplitude', timezone: 'Europe/Berlin', knownFields: new Set(['user']) },
    sample: [
      {
        file: `${HOSTILE}.json`,
        bytesRead: 100,
        recordsRead: 10,
        complete: false,
        records: [
          sampled(mapped([targetEvent(HOSTILE, { timestamp: '2023-05-01T23:30:00.000Z' })]), {
            user: HOSTILE,
            [HOSTILE]: 1,
          }),
          sampled(mapped([targetEvent('Signed up', { timestamp: '2023-05-04T10:00:00.000Z' })])),
          sampled(skipped('session_marker')),
          sampled(rejected('no_identity', HOSTILE)),
        ],
      },
    ],
  }),
);
const render = (problems: string[] = []) =>
  renderPlanPage({ plan, full: undefined, problems, madeAt: new Date('2026-01-01T00:00:00Z') });

test('escapes everything that comes from records, and lets a browser load and run nothing', async () => {
  const page = await render([HOSTILE]);
  expect(page).not.toContain('<script');
  expect(page).not.toContain('\u202e');
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  expect(page).not.toMatch(/\s(?:src|href|style|on[a-z]+)=/);
});

test('shows days in the zone of the source, those without events too', async () => {
  const page = await render();
  expect(page).toContain('from 2 May 2023 to 4 May 2023');
  expect(page).toMatch(/<th scope="row">3 May 2023<\/th><td>0<\/td>/);
  expect(page).toMatch(/<th scope="row">01:00<\/th><td>1<\/td>/);
  expect(page).toContain('Days are those of Europe/Berlin.');
  expect(page).toContain('Of the sampled records alone');
});

test('lists fields that are kept as they are, beside those that are read', async () => {
  const kept = [{ field: 'context.traits.plan', inSample: 3 }];
  const page = await renderPlanPage({
    plan: { ...plan, fields: { mapped: ['user'], kept, unmapped: [] } },
    full: undefined,
    problems: [],
    madeAt: new Date(0),
  });
  expect(page).toMatch(/1 kept as they are<\/h3>\s*<p><code>context\.traits\.plan/);
  expect(await render()).not.toContain('kept as they are');
});

test('has no empty card where nothing becomes an event', async () => {
  const empty = buildPlan(planInput({ sample: [] }));
  const page = await renderPlanPage({ plan: empty, full: undefined, problems: [], madeAt: new Date(0) });
  expect(page).toContain('No sampled record becomes an event.');
  expect(page).not.toContain('NaN');
  expect(page).not.toContain('undefined');
});

test('says what the terminal says of window, places, devices and sessions', async () => {
  const window = { from: '2023-05-01T00:00:00.000Z', until: '2023-06-01T00:00:00.000Z' };
  const notes = [{ note: 'no_session_id' as const, inSample: 2, estimated: 20 }];
  const shown = { ...plan, window, notes, sharedDevices: 'last' as const };
  const page = await renderPlanPage({ plan: shown, full: undefined, problems: [], madeAt: new Date(0) });
  const lines = renderPlan(shown).replace(/\s+/g, ' ');
  for (const text of [
    'until 2023-06-01T00:00:00.000Z, which is out itself',
    'the service looks none up ($geoip_disable)',
    'those of several users are merged into the last one',
    'without $session_id: none fits the event',
  ]) {
    expect(page).toContain(text);
    expect(lines).toContain(text);
  }
  expect(page).toContain('(shared devices, merged into the last one)');
  expect(await render()).toContain('(shared devices, left unmerged)');
  expect(await render()).not.toContain('What the mapping decides');
});

test('gives the days of all events where all were read, not those of the sample', async () => {
  const times = {
    ...plan.times,
    ofAll: true,
    byDay: [{ day: '2022-01-01', events: 1 }, ...plan.times.byDay],
  };
  const whole = { ...plan, times };
  const page = await renderPlanPage({ plan: whole, full: undefined, problems: [], madeAt: new Date(0) });
  const span = '2022-01-01 to 2023-05-04, days of Europe/Berlin';
  expect(page).toContain(span);
  expect(renderPlan(whole)).toContain(span);
  expect(await render()).toContain('(sampled)');
});
