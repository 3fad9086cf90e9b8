import { randomUUID } from 'node:crypto';
import type { FactsIndex } from '../src/contract/progress.ts';
import type { Staging } from '../src/contract/staging.ts';
import { resolveBuckets } from '../src/identity/resolve-buckets.ts';
import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import { encodeDocument } from '../src/state/document.ts';
import { layout, toRangeKey } from '../src/state/keys.ts';
import { listReceipts } from '../src/state/receipts.ts';
import type { Handler } from './worker.ts';

export interface PersonsDeps {
  readonly staging: Staging;
  readonly migrations: OpenMigrations;
}

/** Job `resolve-people`: decides, for a range of buckets, which ids belong together. */
export function resolvePersonsHandler({ staging, migrations }: PersonsDeps): Handler<'resolve-people'> {
  return ({ migration: name, epoch, from, to }, run) =>
    migrations.use(name, epoch, run.signal, async (_, signal) => {
      const keys = layout(name);
      const facts = listFacts(staging, name);
      // A folder per writer: the receipt of the range names the objects that count (I5).
      const prefix = keys.resolvedFactsBy(`${epoch}-${randomUUID()}`);
      const resolved = await resolveBuckets({ staging, prefix, facts, from, to, signal });
      await staging.create(toRangeKey(keys.resolved, { from, to }), encodeDocument(resolved));
      return { kind: 'done' as const };
    });
}

async function* listFacts(staging: Staging, name: string): AsyncGenerator<FactsIndex> {
  for await (const { findings } of listReceipts(staging, name)) if (findings) yield findings;
}
