import type { FactsIndex } from '../src/contract/progress.ts';
import type { Staging } from '../src/contract/staging.ts';
import { foldBuckets } from '../src/identity/fold-buckets.ts';
import { resolvedRange } from '../src/identity/resolve-buckets.ts';
import { sendFolded } from '../src/identity/send-folded.ts';
import { encodeDocument, parseDocument } from '../src/state/document.ts';
import { layout, toRangeKey } from '../src/state/keys.ts';
import type { PersonsDeps } from './resolve-persons.ts';
import type { Handler } from './worker.ts';

/** Job `fold-people`: sends `$identify` and group events of a range of buckets. */
export function foldPersonsHandler({ staging, migrations }: PersonsDeps): Handler<'fold-people'> {
  return ({ migration: name, epoch, from, to }, run) =>
    migrations.use(name, epoch, run.signal, async ({ settings, deliver }, signal) => {
      const keys = layout(name);
      const chunks = foldBuckets({
        staging,
        facts: listResolvedFacts(staging, name),
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
      await staging.create(toRangeKey(keys.folded, { from, to }), encodeDocument(folded));
      return { kind: 'done' as const };
    });
}

async function* listResolvedFacts(staging: Staging, name: string): AsyncGenerator<FactsIndex> {
  for await (const { key } of staging.list(layout(name).resolved)) {
    const body = await staging.get(key);
    if (body) yield* parseDocument(resolvedRange, body, key, staging).findings;
  }
}
