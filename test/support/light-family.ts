import { createHash } from 'node:crypto';
import { parseStoredManifest } from '../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import { manifestIdentity } from '../../config/manifest/manifest-identity.ts';
import type { Batch, Delivery } from '../../src/contract/delivery.ts';
import type { PartMeta } from '../../src/contract/part.ts';
import type { Checkpoint } from '../../src/contract/progress.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { findFreeName } from '../../src/migrations/derived-name.ts';
import { createManifestMap } from '../../src/migrations/manifest/create-maps.ts';
import { createMigrationStamp } from '../../src/migrations/manifest/stamps.ts';
import { loadPersons } from '../../src/migrations/persons/load-persons.ts';
import { assertFolded } from '../../src/migrations/rejects/assert-folded.ts';
import { createAttempt } from '../../src/migrations/rejects/attempts.ts';
import { readRejectLines } from '../../src/migrations/rejects/rejects.ts';
import { loadReplayed } from '../../src/migrations/rejects/replayed.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { buildReport } from '../../src/migrations/report/build-report.ts';
import { loadBooks } from '../../src/migrations/report/load-books.ts';
import type { Report } from '../../src/migrations/report/report.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { foldRepeats } from '../../src/migrations/run/repeats-phase.ts';
import { StatusBoard } from '../../src/migrations/run/run-status.ts';
import { createFindTaken } from '../../src/migrations/run/taken-events.ts';
import { importPart } from '../../src/pipeline/import-part.ts';
import { stageRejects } from '../../src/pipeline/stage/stage-rejects.ts';
import { stageSlice } from '../../src/pipeline/stage/stage-slice.ts';
import { getMappingName } from '../../src/sources/registry.ts';
import type { SourceSlice } from '../../src/sources/source.ts';
import type { Checkpoints } from '../../src/state/checkpoints.ts';
import { loadControl } from '../../src/state/control.ts';
import { encodeDocument } from '../../src/state/document.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { toPartsPrefix } from '../../src/state/keys/parts.ts';
import {
  addTopUp,
  createMigration,
  loadMigration,
  type MigrationRecord,
} from '../../src/state/migrations.ts';
import { createPartStore } from '../../src/state/part-store.ts';
import { listParts } from '../../src/state/parts.ts';
import { loadSentBefore } from '../../src/state/rejects/sent-before.ts';
import { memorySlice } from '../sources/formats/memory-file.ts';
import { saveControl } from './save-control.ts';

function createCheckpoints(): Checkpoints & { readonly lose: () => void } {
  const saved = new Map<string, Checkpoint>();
  let counter = 0;
  return {
    begin: async (part) => {
      counter += 1;
      return { fence: { part, epoch: 1, counter }, checkpoint: saved.get(part) };
    },
    save: async (_, checkpoint) => void saved.set(checkpoint.part, checkpoint),
    forget: async ({ part }) => void saved.delete(part),
    lose: () => saved.clear(),
  };
}

const toId = (name: string) => createHash('sha256').update(name).digest('hex');

export interface SentEvent {
  readonly uuid: string;
  readonly event: string;
  readonly timestamp: string;
  readonly properties: Record<string, unknown>;
}

export interface LightFamilyDeps {
  readonly staging: Staging;
  readonly deliver: (events: readonly SentEvent[]) => Delivery[];
  /** Called once all of a migration is staged. */
  readonly onImport?: () => void;
  /** Fingerprints folded at once. */
  readonly rangeRows?: number | undefined;
}

/**
 * Imports, top-ups and replays as their phases do them, without a queue, a lease and a server: stage, import each
 * part, fold repeats, report.
 */
export function createLightFamily({ staging, deliver, onImport, rangeRows }: LightFamilyDeps) {
  const { signal } = new AbortController();
  let reports = 0;
  const checkpoints = createCheckpoints();
  const manifests = new Map<string, Manifest>();
  const keepsRejects = new Map<string, boolean>();

  const createDeps = async (
    record: MigrationRecord,
    manifest: Manifest,
    { idFrom }: Pick<PartMeta, 'idFrom'>,
  ) => ({
    checkpoints,
    store: createPartStore(staging, record),
    map: createManifestMap(manifest, idFrom ? { idFrom } : {}),
    ...(record.replays === undefined
      ? {}
      : {
          loadSentBefore: (part: string) => loadSentBefore(staging, record.name, part),
          vendorMap: createManifestMap(manifest, {}),
        }),
    findTaken: await createFindTaken(staging, record),
    mapping: record.mapping,
    batch: { events: 2, bytes: 100_000, eventBytes: 20_000 },
    stamp: createMigrationStamp(record),
    deliver: async ({ body }: Batch) => deliver(JSON.parse(`[${body.toString('utf8')}]`)),
    requestsInFlight: 1,
    onProgress: () => {},
  });

  async function end(record: MigrationRecord): Promise<Report> {
    const board = new StatusBoard(() => {}, { budget: undefined, nowMs: () => 0 });
    const repeats = await foldRepeats(
      {
        ...{ record, epoch: 1, begun: new Map(), assertVolume: async () => {}, staging, board },
        schedulerDeps: {
          queue: {
            add: async () => {},
            listen: () => () => {},
            state: async () => ({ kind: 'open' }),
            findHold: async () => undefined,
          },
          windowSize: 1,
          makeJobId: () => '',
          assertRunning: async () => {},
          assertNotHeld: async () => {},
          signal,
        },
      },
      rangeRows === undefined ? {} : { rangeRows },
    );
    const books = await loadBooks(staging, record, { willFold: true });
    const persons = await loadPersons(staging, record.name);
    const report = buildReport({ ...books, repeats, persons, failures: [], isOver: true });
    reports += 1;
    await staging.put(layout(record.name).report(reports, record.id), encodeDocument(report));
    await saveControl(staging, record.name, { state: 'finished', reason: '', at: '' });
    return report;
  }

  async function hasRejectsLeft(migration: MigrationRecord): Promise<boolean> {
    const replayed = await loadReplayed(staging, migration);
    for await (const line of readRejectLines(staging, migration.name)) if (replayed.leave(line)) return true;
    return false;
  }

  /** Imports what is staged of a migration; an import that was cut off continues at its checkpoint. */
  async function resume(name: string): Promise<Report> {
    const record = await loadMigration(staging, name);
    const manifest = manifests.get(name);
    if (!record || !manifest) throw new Error(`no migration ${name}`);
    onImport?.();
    const parts: PartMeta[] = [];
    for await (const part of listParts(staging, toPartsPrefix(record))) parts.push(part);
    for (const part of parts) await importPart(part, await createDeps(record, manifest, part), signal);
    return end(record);
  }

  const toFiles = (slices: readonly SourceSlice[]) =>
    slices.map(({ fileId, name, bytes, modified }) => ({ fileId, name, bytes, modified }));

  return {
    /** Imports files; `topUp` where the migration has others. */
    async import(
      stored: object,
      files: readonly { readonly name: string; readonly lines: readonly string[] }[],
    ) {
      const manifest = parseStoredManifest(stored, 'here');
      const { name } = manifest;
      const slices = files.map((file) =>
        memorySlice(file.lines.map((line) => `${line}\n`).join(''), { name: file.name }),
      );
      const known = await loadMigration(staging, name);
      const { identity, sha256 } = manifestIdentity(manifest);
      const record: MigrationRecord = known ?? {
        ...{ id: toId(name), name, identity, identitySha256: sha256 },
        mapping: getMappingName(manifest.source.type),
        destination: 'bundled API',
        files: toFiles(slices),
        createdAt: '2024-05-05T00:00:00.000Z',
        opening: { manifest: stored, baseDir: '/' },
      };
      if (known) await addTopUp(staging, known, { at: '2024-05-05T00:00:00.000Z', files: toFiles(slices) });
      else await createMigration(staging, record);
      manifests.set(name, manifest);
      await saveControl(staging, name, { state: 'stopped', reason: '', at: '' });
      for (const slice of slices)
        await stageSlice({ slice, staging, prefix: toPartsPrefix(record), onPart: async () => {}, signal });
      return resume(name);
    },

    resume,
    loseCheckpoints: checkpoints.lose,

    cancel: (name: string) => saveControl(staging, name, { state: 'cancelled', reason: '', at: '' }),

    /** Keeps its rejects where any is left to be replayed. */
    async remove(name: string) {
      const migration = await loadMigration(staging, name);
      if (!migration) throw new Error(`no migration ${name}`);
      // One that was interrupted is continued as it was begun. Until it has entered its state, more may be imported.
      const isBegun = (await loadControl(staging, name))?.state === 'removed';
      const keepRejects = (isBegun ? keepsRejects.get(name) : undefined) ?? (await hasRejectsLeft(migration));
      keepsRejects.set(name, keepRejects);
      await removeMigration({ staging, now: () => new Date(0), askRedis: async () => undefined }, name, {
        keepRejects,
        resolveLedger: (manifest) =>
          resolveLedger(manifest, { env: {}, bundled: { projectKey: 'phc_test' } }),
      });
      keepsRejects.delete(name);
    },

    /** Undefined where nothing is left. */
    async replay(of: string, stored: object, again = false, onBegin?: (name: string) => void) {
      const original = await loadMigration(staging, of);
      if (!original) throw new Error(`no migration ${of}`);
      const name = await findFreeName(staging, of, 'replay');
      const manifest = parseStoredManifest({ ...stored, name }, 'here');
      const replayed = await loadReplayed(staging, original);
      await assertFolded(staging, replayed.replays);
      async function* select() {
        for await (const line of readRejectLines(staging, of)) {
          const left = again ? line : replayed.leave(line);
          if (left) yield left;
        }
      }
      const files = await stageRejects(staging, createAttempt(name), select());
      if (files.length === 0) return undefined;
      onBegin?.(name);
      const { identity, sha256 } = manifestIdentity(manifest);
      const record: MigrationRecord = {
        ...{ id: toId(name), name, identity, identitySha256: sha256 },
        mapping: original.mapping,
        destination: 'bundled API',
        files,
        createdAt: '2024-05-05T00:00:00.000Z',
        opening: { manifest: { ...stored, name }, baseDir: '/' },
        ...(replayed.unfinished.length === 0 ? {} : { takesOver: [...replayed.unfinished] }),
        ...{ replays: of, replaysId: original.id, stampedAs: original.stampedAs ?? original.replays ?? of },
      };
      await createMigration(staging, record);
      manifests.set(name, manifest);
      await saveControl(staging, name, { state: 'stopped', reason: '', at: '' });
      return { name, report: await resume(name) };
    },
  };
}
