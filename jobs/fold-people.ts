import type { FindingsIndex } from '../src/contract/progress.ts';
import type { Staging } from '../src/contract/staging.ts';
import { layout } from '../src/migration/layout.ts';
import { encode, parseStored } from '../src/migration/migration.ts';
import { foldBuckets } from '../src/people/fold-buckets.ts';
import { resolvedRange } from '../src/people/resolve-buckets.ts';
import { sendFolded } from '../src/people/send-folded.ts';
import { rangeId } from '../src/run/people-phase.ts';
import type { PeopleDeps } from './resolve-people.ts';
import type { Handler } from './worker.ts';

/** Job `fold-people`: sends `$identify` and group events of a range of buckets. */
export function foldPeopleHandler({ staging, migrations }: PeopleDeps): Handler<'fold-people'> {
  return ({ migration: name, epoch, from, to }, run) =>
    migrations.use(name, epoch, run.signal, async ({ settings, deliver }, signal) => {
      const keys = layout(name);
      const chunks = foldBuckets({
        staging,
        findings: resolvedFindings(staging, name),
        overwrite: settings.overwritePeople,
        groupIdentifyEvent: settings.groupIdentifyEvent,
        batch: settings.batch,
        from,
        to,
        signal,
      });
      const deps = {
        limits: settings.batch,
        deliver,
        onProgress: (sent: number) => run.progress({ sent }),
      };
      const folded = await sendFolded(chunks, deps, signal);
      await staging.create(`${keys.folded}${rangeId({ from, to })}.json`, encode(folded));
      return { kind: 'done' as const };
    });
}

async function* resolvedFindings(staging: Staging, name: string): AsyncGenerator<FindingsIndex> {
  for await (const { key } of staging.list(layout(name).resolved)) {
    const body = await staging.get(key);
    if (body) yield* parseStored(resolvedRange, body, key, staging).findings;
  }
}
