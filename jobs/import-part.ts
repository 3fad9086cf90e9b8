import type { Redis } from 'ioredis';
import type { PartMeta } from '../src/contract/part.ts';
import type { Staging } from '../src/contract/staging.ts';
import { BatchBuilder } from '../src/deliver/batch-builder.ts';
import { FactFold } from '../src/identity/fact-fold.ts';
import type { OpenMigration, OpenMigrations } from '../src/migrations/open-migrations.ts';
import { type ImportDeps, importPart } from '../src/pipeline/import-part.ts';
import { cutSegments } from '../src/pipeline/segments.ts';
import { createRecordParser } from '../src/sources/formats/parse-record.ts';
import { createRedisCheckpoints } from '../src/state/checkpoints.ts';
import { saveFacts } from '../src/state/facts.ts';
import { layout } from '../src/state/keys.ts';
import { loadPart } from '../src/state/parts.ts';
import { createReceipt, loadReceipt } from '../src/state/receipts.ts';
import { putRejects } from '../src/state/rejects.ts';
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
  const findings = new FactFold();
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
          return parsed.kind === 'rejected' ? parsed : migration.map(parsed.value);
        },
        batches: new BatchBuilder(settings.batch),
        findings,
      }),
    deliver: migration.deliver,
    keepRejects: (rejects, records, segment) =>
      putRejects(staging, record.name, segment, part, header, rejects, records),
    async keepFindings(segment) {
      if (findings.size === 0) return undefined;
      return saveFacts(staging, keys.findings(segment), findings.stored());
    },
    loadReceipt: (id) => loadReceipt(staging, record.name, id),
    createReceipt: (receipt) => createReceipt(staging, record.name, receipt),
    onProgress: ({ tally }) => run.progress({ ...tally.counts }),
    mapping: record.mapping,
    batchesInFlight: settings.requestsInFlight,
  };
}
