import { describe, expect, it } from 'vitest';
import { EXIT, RUN_EXIT } from '../../../src/cli/exit-code.ts';
import { renderEnd } from '../../../src/cli/render/render-end.ts';
import { buildReport } from '../../../src/migrations/report/build-report.ts';
import type { RunResult } from '../../../src/migrations/start.ts';
import { finishedInput } from '../../migrations/report/sample-receipts.ts';

const commands = {
  again: 'backhaul run shop.yaml',
  resume: 'backhaul resume shop',
  rejects: 'backhaul rejects ls shop',
  personsSend: 'backhaul persons send shop',
};
const migration = 'shop';
const report = buildReport(finishedInput());
const show = (result: RunResult) => renderEnd(result, commands).join('\n');

describe('the end of a run', () => {
  it('has the exit codes that the README lists', () => {
    expect(RUN_EXIT).toEqual({
      finished: 0,
      failed: 1,
      unbalanced: 1,
      refused: 2,
      rejects_above_threshold: 3,
      approval_needed: 4,
      stopped: 5,
      unavailable: 5,
      held: 5,
      superseded: 5,
    });
    expect(EXIT).toMatchObject({ done: 0, failed: 1, usage: 2, stoppedResumable: 5 });
  });

  it('leaves nothing to do when all is finished', () => {
    expect(show({ kind: 'finished', migration, report })).toBe('');
  });

  it('names what failed, and the command for when the cause is removed', () => {
    const work = { id: 'f/00001', name: 'import-part', payload: {} };
    const failures = [{ work, reason: 'part is damaged' }];
    expect(show({ kind: 'failed', migration, report, failures })).toBe(
      `import-part f/00001: part is damaged\n1 failed; everything else was delivered. Once the cause is removed: ${commands.resume}`,
    );
  });

  it('names the command that shows the rejects when there are too many', () => {
    const kind = 'rejects_above_threshold';
    expect(show({ kind, migration, report })).toContain(commands.rejects);
    expect(show({ kind, migration, report })).not.toContain(commands.personsSend);
    const held = { ...report, people: { ...report.people, held: true } };
    expect(show({ kind, migration, report: held })).toContain(commands.personsSend);
  });

  it('names the command that continues when the other side is down', () => {
    const reason = 's3://staging does not answer.';
    expect(show({ kind: 'unavailable', migration, reason, begun: true })).toBe(
      `s3://staging does not answer. Everything so far is saved. Continue with: ${commands.resume}`,
    );
    expect(show({ kind: 'unavailable', migration, reason, begun: false })).toBe(
      `s3://staging does not answer. Everything so far is saved. Continue with: ${commands.again}`,
    );
  });

  it('offers no resume of a migration that was removed before the run began with it', () => {
    expect(show({ kind: 'held', migration, state: 'removed', reason: 'removed at noon' })).toBe(
      'migration "shop" was removed; give the manifest another name, or remove "shop" with --forget',
    );
  });

  it('has the reason and the command when somebody paused the migration', () => {
    expect(show({ kind: 'held', migration, state: 'paused', reason: 'the key is wrong' })).toBe(
      `The migration was paused: the key is wrong. Everything so far is saved. Continue with: ${commands.resume}`,
    );
    expect(show({ kind: 'held', migration, state: 'cancelled', reason: '' })).toContain(
      'The migration was cancelled. Everything',
    );
  });

  it('names no command where another process runs the migration', () => {
    const shown = show({ kind: 'superseded', migration, reason: 'another process runs it' });
    expect(shown).toBe('another process runs it');
  });

  it('names resume where a run is refused for a pause, and nothing for other refusals', () => {
    const reason = 'migration "shop" is paused';
    expect(show({ kind: 'refused', migration, refusal: 'resume_first', reason })).toBe(
      `${reason}; continue with: ${commands.resume}`,
    );
    expect(show({ kind: 'refused', migration, refusal: 'already_running', reason })).toBe(reason);
  });
});
