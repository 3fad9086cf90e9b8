import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/migrations/run/run-status.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { loadStatus } from '../../src/migrations/status/watch.ts';
import { forgetMigration } from '../support/forget-migration.ts';
import { importing, line, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { type Step, sleepAt } from '../support/sleep-at.ts';

/** The contract's limit of events, lowered: it is judged on events, before the first request. */
const ALLOWED = 1_500;
const RULES = { eventsPerMinute: 10_000, totalEvents: ALLOWED };

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

/** Records of about so many bytes. Of a file beyond half a MiB, only the beginning is in the sample. */
const lines = (name: string, count: number, bytes: number) =>
  Array.from({ length: count }, (_, number) => {
    const short = line(`${name}-${number}`);
    return `${short.slice(0, -1)},"x":"${'x'.repeat(Math.max(0, bytes - short.length))}"}`;
  });

/** A run under the lowered limit, and what is known of it. */
async function run(name: string, records: readonly string[], more: object = {}) {
  const loaded = await lab.writeManifest(name, more);
  lab.writeFile(name, 'a.json', records);
  const before = lab.destination.requests.length;
  const phases: RunStatus['phase'][] = [];
  const sentInPhase = new Map<string, number>();
  const onStatus = ({ phase }: RunStatus) => {
    if (phases.at(-1) !== phase) phases.push(phase);
    sentInPhase.set(phase, lab.destination.requests.length - before);
  };
  const runtime = { ...lab.runtime, importRules: RULES };
  const result = await startMigration(runtime, loaded, importing({ onStatus }));
  const [status] = await loadStatus(runtime, name).catch(() => []);
  return { result, phases, sentInPhase, requests: lab.destination.requests.length - before, status };
}

describe('a migration whose sample promises', () => {
  it('less than half of the limit is imported while it is staged', async () => {
    const { result, phases } = await run('small', lines('small', 600, 900));
    expect(result).toMatchObject({ kind: 'finished', report: { events: { accepted: 600 } } });
    expect(phases).not.toContain('count');
  });

  it('more than half of it is counted before its first request, and sent where it is allowed', async () => {
    const { result, phases, sentInPhase } = await run('fits', lines('fits', 1_000, 900));
    expect(result).toMatchObject({ kind: 'finished', report: { events: { accepted: 1_000 } } });
    expect(phases.slice(0, 3)).toEqual(['stage', 'count', 'import']);
    expect(sentInPhase.get('count')).toBe(0);
  });

  it('almost all of it is refused before any request when it holds more, and continues once approved', async () => {
    const name = 'refused';
    // About 1,060 by the sample: the small ones are at the end.
    const records = [...lines(name, 1_000, 900), ...lines(`${name}-end`, 700, 75)];
    const { result, requests, status } = await run(name, records);
    expect(result).toMatchObject({
      kind: 'approval_needed',
      reason: expect.stringMatching(/is not started: [\s\S]*It holds 1,700 events; 1,500 are allowed/),
    });
    expect(requests).toBe(0);
    expect(status).toMatchObject({ state: 'stopped', parts: { done: 0, staged: 1 } });

    const approval = { reference: 'request 4711', totalEvents: 1_700 };
    const approved = await lab.writeManifest(name, { approval });
    lab.writeFile(name, 'a.json', records);
    const stop = new AbortController();
    const onStatus = ({ phase }: RunStatus) => phase === 'import' && stop.abort(new Error('it imports'));
    const options = { signal: stop.signal, importHere: false, onStatus };
    const runtime = { ...lab.runtime, importRules: RULES };
    expect(await startMigration(runtime, approved, options)).toMatchObject({ reason: 'it imports' });
  });

  it('far less than it holds is refused before any request too', async () => {
    const records = [...lines('wrong', 600, 900), ...lines('wrong-end', 1_500, 75)];
    const { result, requests } = await run('wrong', records);
    expect(result).toMatchObject({
      kind: 'approval_needed',
      reason: expect.stringContaining('It holds 2,100 events; 1,500 are allowed without an approval.'),
    });
    expect(requests).toBe(0);
  });

  it('is judged by its events, not by its records', async () => {
    const records = lines('idle', 400, 900).flatMap((each) => [each, '{"e":"nobody"}', '{"e":"nobody"}']);
    const { result } = await run('idle', records, { rejects: { failAbove: '100%' } });
    expect(result).toMatchObject({ kind: 'finished', report: { counts: { read: 1_200, delivered: 400 } } });
  });

  it('is counted for itself, whatever a producer of a migration that had its name before counted', async () => {
    const name = 'given-away';
    const rules = { importRules: RULES };
    const start = async (records: readonly string[], step: Step) => {
      const loaded = await lab.writeManifest(name, { rejects: { failAbove: '100%' } });
      lab.writeFile(name, 'a.json', records);
      const { staging, redis, asleep, wake } = sleepAt(lab.runtime, name, step);
      const runtime = { ...lab.runtime, ...rules, staging, redis };
      const ended = startMigration(runtime, loaded, importing()).catch((error: unknown) => error);
      await asleep;
      return { wake, ended };
    };
    const good = lines(name, 1_000, 900);
    const wrong = [...good, ...Array.from({ length: 700 }, () => '{"e":"nobody"}')];
    const before = await start(wrong, { method: 'put', key: '/volume', when: 'before' });
    await forgetMigration(lab, name);
    const right = [...good, ...lines(`${name}-end`, 700, 75)];
    const next = await start(right, { method: 'get', key: '/volume', when: 'before' });

    before.wake();
    await before.ended;
    next.wake();
    expect(await next.ended).toMatchObject({
      kind: 'approval_needed',
      reason: expect.stringContaining('It holds 1,700 events; 1,500 are allowed'),
    });
  });
});
