import type { Receipt } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { shorten } from '../../lib/preview.ts';
import { takesWrites } from '../../lib/redis/redis-reply.ts';
import { leaseKey } from '../../state/checkpoints.ts';
import { type Control, loadNewestControl } from '../../state/control.ts';
import { layout, parseReceiptKey } from '../../state/keys/migration.ts';
import { isDocument } from '../../state/keys/ordinal.ts';
import { parsePartKey, partKeys, toPartsPrefix } from '../../state/keys/parts.ts';
import { createIsOwnSlice, type MigrationRecord } from '../../state/migrations.ts';
import { loadPartMeta } from '../../state/parts.ts';
import { loadProgressNote } from '../../state/progress-note.ts';
import { loadReceipt } from '../../state/receipts.ts';
import { readRejects } from '../../state/rejects/rejects.ts';
import { requireMigration } from '../life-store.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { findWebhookTrouble } from '../notify/find-trouble.ts';
import { hideQuoted } from '../rejects/hide-quoted.ts';
import { loadStoredReport, type Report } from '../report/report.ts';
import { loadLastVerification } from '../verify/kept.ts';
import { countUnstaged } from './count-unstaged.ts';
import { loadHistory } from './history.ts';
import { toTerms } from './terms.ts';
import { type Totals, TotalsBuilder, toOutcome } from './totals.ts';
import {
  type MigrationStatus,
  type MigrationView,
  type RejectSample,
  type StatusFacts,
  shouldRun,
  toMigrationStatus,
  toMigrationView,
} from './view.ts';

export interface MigrationReader {
  readStatus(): Promise<MigrationStatus>;
  readView(): Promise<MigrationView>;
}

/** What a reader may look at again and again: only what is new is read. */
export async function createMigrationReader(store: MigrationStore, name: string): Promise<MigrationReader> {
  const { staging } = store;
  let rejectsLeft: ReturnType<typeof import('../rejects/rejects-left.ts').createRejectsLeft> | undefined;
  let seen = openSeen(staging, name, await requireMigration(staging, name));
  /** The name may have been forgotten and given to another migration since the last look. */
  const look = async (): Promise<Seen> => {
    const record = await requireMigration(staging, name);
    if (record.id !== seen.record.id) seen = openSeen(staging, name, record);
    return { ...seen, record };
  };
  /**
   * No producer holds it where there is no Redis; undefined where there is one that does not answer, or takes no
   * writes: a lease that cannot be renewed expires, though its producer waits.
   */
  const isLeased = ({ id }: MigrationRecord) =>
    store
      .askRedis(async (redis) => {
        if ((await redis.exists(leaseKey(id))) === 1) return { leased: true };
        return { leased: takesWrites(await redis.info()) ? false : undefined };
      })
      .then(
        (known) => (known === undefined ? false : known.leased),
        () => undefined,
      );
  const readFacts = async ({ record, readTotals }: Seen): Promise<StatusFacts & ControlAt> => {
    const { control, number } = await loadNewestControl(staging, record);
    const leased = shouldRun(control) ? await isLeased(record) : false;
    const totals = await readTotals(); // before the note, which may know more
    const note = await loadProgressNote(staging, record);
    const webhook = await findWebhookTrouble(staging, name);
    const unstaged = control?.state === 'finished' ? await countUnstaged(staging, record) : 0;
    return { record, control, controlNumber: number, isLeased: leased, note, totals, webhook, unstaged };
  };
  return {
    readStatus: async () => toMigrationStatus(await readFacts(await look())),
    async readView() {
      const at = await look();
      const facts = await readFacts(at);
      const { history, report } = await at.loadEnd(facts);
      // With manifests come all sources, which a list of migrations does not need.
      const { loadStoredManifest } = await import('../manifest/stored-manifest.ts');
      const { bindSource } = await import('../../sources/registry.ts');
      const { createRejectsLeft } = await import('../rejects/rejects-left.ts');
      const { manifest } = await loadStoredManifest(staging, name);
      const sampled = await at.rejects.read();
      const samples = bindSource(manifest.source).hideHashed ? hideTexts(sampled) : sampled;
      rejectsLeft ??= createRejectsLeft(staging);
      // The report says what is gone or damaged.
      const replayed = await rejectsLeft(at.record).catch(() => undefined);
      return toMigrationView({
        ...facts,
        replayed,
        history,
        report,
        verification: report && (await loadLastVerification(staging, name)),
        samples,
        terms: toTerms(manifest),
      });
    },
  };
}

interface ControlAt {
  readonly control: Control | undefined;
  readonly controlNumber: number;
}

type Seen = ReturnType<typeof openSeen>;

/** What was read of a migration so far. */
function openSeen(staging: Staging, name: string, record: MigrationRecord) {
  const rejects = createSampler(staging);
  let known: { of: string; history: readonly Control[]; report: Report | undefined } | undefined;
  const loadEnd = async ({ controlNumber, control }: ControlAt) => {
    const of = `${controlNumber} ${control?.at}`;
    // Held persons are sent by another migration.
    if (known?.of === of && !known.report?.people.held) return known;
    const history = await loadHistory(staging, record);
    const report = control && !shouldRun(control) ? await loadStoredReport(staging, name) : undefined;
    known = { of, history, report };
    return known;
  };
  return { record, rejects, readTotals: createTotalsReader(staging, record, rejects.add), loadEnd };
}

/** How many small objects are loaded at once; on S3 each is a round trip. */
const READ_AHEAD = 16;

/**
 * Returns a function that reads what parts and receipts add up to. Neither ever changes, so each is read once; a
 * read of a migration that makes no progress only lists its keys.
 */
export function createTotalsReader(
  staging: Staging,
  record: Pick<MigrationRecord, 'name' | 'id' | 'partsById' | 'files' | 'replays'>,
  onReceipt: (receipt: Receipt) => void = () => {},
): () => Promise<Totals> {
  const { name } = record;
  const totals = new TotalsBuilder();
  const isOwn = createIsOwnSlice(record);
  const prefix = toPartsPrefix(record);
  const loadMeta = (key: string) => loadPartMeta(staging, prefix, parsePartKey(prefix, key));
  const readParts = createReader(staging, partKeys(prefix).parts, loadMeta, (part) => {
    if (isOwn(part.fileId)) totals.addPart(part);
  });
  const load = (key: string) => loadReceipt(staging, name, parseReceiptKey(name, key));
  const readReceipts = createReader(staging, layout(name).receipts, load, (receipt) => {
    totals.addReceipt(receipt);
    onReceipt(receipt);
  });
  let reading: Promise<unknown> = Promise.resolve();
  const read = async () => {
    await readReceipts(); // before the parts: a receipt never comes without its part
    await readParts();
    return totals.build();
  };
  /** One after the other, as two at once would add up the same receipt twice. */
  return () => {
    const next = reading.then(read, read);
    reading = next;
    return next;
  };
}

/** Pages are shown to others than staging: where personal data is hashed, what is rejected is not shown as it was exported. */
const hideTexts = (samples: ReadonlyMap<string, readonly RejectSample[]>) =>
  new Map(
    [...samples].map(([reason, of]) => [
      reason,
      of.map(({ place, detail }) => ({ place, detail: hideQuoted(reason, detail), text: HIDDEN })),
    ]),
  );
const HIDDEN = 'not shown, because the mapping hashes personal data; see `backhaul rejects show`';

const SAMPLES_PER_REASON = 3;
const TEXT_CHARACTERS = 300;
/** Each may hold all records of a part. */
const MAX_SEGMENTS = 50;

/** Keeps a few rejected records for each reason, from the first objects that have some. */
function createSampler(staging: Staging) {
  const samples = new Map<string, RejectSample[]>();
  const lacks = (reason: string) => (samples.get(reason)?.length ?? 0) < SAMPLES_PER_REASON;
  const waiting: Receipt[] = [];
  let segments = 0;
  return {
    add(receipt: Receipt) {
      if (receipt.rejectSegments.length > 0 && segments + waiting.length < MAX_SEGMENTS)
        waiting.push(receipt);
    },
    async read(): Promise<ReadonlyMap<string, readonly RejectSample[]>> {
      for (let receipt = waiting.shift(); receipt; receipt = waiting.shift()) {
        const reasons = Object.keys(receipt.tally.byReason);
        if (!reasons.some((reason) => toOutcome(reason) === 'rejected' && lacks(reason))) continue;
        for (const segment of receipt.rejectSegments) {
          if (segments >= MAX_SEGMENTS) break;
          segments += 1;
          // The report says what is gone or damaged.
          for (const line of await readRejects(staging, segment).catch(() => [])) {
            if (line.stays || !lacks(line.reason)) continue;
            const place = `${line.file}${line.member ? ` → ${line.member}` : ''}, line ${line.line}`;
            const text = shorten(line.text ?? line.base64 ?? '', TEXT_CHARACTERS);
            const { reason, detail } = line;
            samples.set(reason, [...(samples.get(reason) ?? []), { place, detail, text }]);
          }
        }
      }
      return samples;
    },
  };
}

/** Passes each document below a prefix to `take` once. */
function createReader<T>(
  staging: Staging,
  prefix: string,
  load: (key: string) => Promise<T | undefined>,
  take: (value: T) => void,
) {
  const taken = new Set<string>();
  const readNew = async (keys: readonly string[]) => {
    const found = await Promise.all(keys.map(load));
    for (const [index, key] of keys.entries()) {
      const value = found[index];
      if (value === undefined) continue;
      take(value);
      taken.add(key);
    }
  };
  return async (): Promise<void> => {
    let fresh: string[] = [];
    for await (const { key } of staging.list(prefix)) {
      if (!isDocument(key) || taken.has(key)) continue;
      fresh.push(key);
      if (fresh.length < READ_AHEAD) continue;
      await readNew(fresh);
      fresh = [];
    }
    await readNew(fresh);
  };
}
