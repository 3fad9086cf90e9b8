import type { Redis } from 'ioredis';
import { createRedisCheckpoints } from '../src/checkpoint/redis-checkpoints.ts';
import type { PartMeta } from '../src/contract/part.ts';
import type { Staging } from '../src/contract/staging.ts';
import { BatchBuilder } from '../src/deliver/batch-builder.ts';
import { type ImportDeps, importPart } from '../src/import/import-part.ts';
import { putRejects } from '../src/import/rejects.ts';
import { cutSegments } from '../src/import/segments.ts';
import { layout } from '../src/migration/layout.ts';
import type { OpenMigration, OpenMigrations } from '../src/migration/open-migrations.ts';
import { createReceipt, loadReceipt } from '../src/migration/receipts.ts';
import { FindingsFold } from '../src/people/findings-fold.ts';
import { createRecordParser } from '../src/read/parse-record.ts';
import { loadPart } from '../src/stage/load-part.ts';
import type { Handler, JobRun } from './worker.ts';

export interface ImportPartDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly migrations: OpenMigrations;
}

/** Job `import-part`: one staged part becomes events, rejects, findings and a receipt. */
export function importPartHandler({ staging, redis, migrations }: ImportPartDeps): Handler<'import-part'> {
  return ({ migration, epoch, part }, run) =>
    migrations.use(migration, epoch, run.signal, async (open, signal) => {
      await importPart(part, depsFor(part, open, staging, redis, run), signal);
      return { kind: 'done' as const };
    });
}

function depsFor(
  part: PartMeta,
  migration: OpenMigration,
  staging: Staging,
  redis: Redis,
  run: JobRun,
): ImportDeps {
  const { record, settings, epoch } = migration;
  const keys = layout(record.name);
  const findings = new FindingsFold();
  let parse: ReturnType<typeof createRecordParser>;
  let header: Uint8Array | undefined;

  return {
    checkpoints: createRedisCheckpoints(redis, record.id, epoch),
    async readRecords() {
      const loaded = await loadPart(staging, keys.prefix, part);
      header = loaded.header;
      parse = createRecordParser(part.format, header);
      return [...loaded.records];
    },
    toSegments: (records, from) =>
      cutSegments(records, from, {
        understand(item) {
          const parsed = parse(item);
          if (parsed.kind === 'rejected') return { outcome: parsed, exact: false };
          return { outcome: migration.map(parsed.value), exact: parsed.exact || migration.addsExactNumbers };
        },
        batches: new BatchBuilder(settings.batch),
        findings,
      }),
    deliver: migration.deliver,
    keepRejects: (rejects, records, segment) =>
      putRejects(staging, record.name, segment, part, header, rejects, records),
    async keepFindings(segment) {
      if (findings.size === 0) return undefined;
      const { body, sections } = await findings.encode();
      const key = keys.findings(segment);
      await staging.put(key, body);
      return { key, sections };
    },
    loadReceipt: (id) => loadReceipt(staging, record.name, id),
    createReceipt: (receipt) => createReceipt(staging, record.name, receipt),
    onProgress: ({ tally }) => run.progress({ ...tally.counts }),
    mapping: record.mapping,
    batchesInFlight: settings.requestsInFlight,
  };
}
