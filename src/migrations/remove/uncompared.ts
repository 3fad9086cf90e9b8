import type { Environment } from '../../../config/environment.ts';
import type { PartMeta } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError, getMessage, SourceError } from '../../lib/errors.ts';
import { limitToStored } from '../../pipeline/limit-to-stored.ts';
import type { EncodedFingerprints } from '../../state/fingerprints.ts';
import { toPartsPrefix } from '../../state/keys/parts.ts';
import { createIsOwnSlice, findLatest, type MigrationRecord } from '../../state/migrations.ts';
import { listParts, loadPart } from '../../state/parts.ts';
import { listOrigins } from '../../state/rejects/origins.ts';
import { loadSentBefore } from '../../state/rejects/sent-before.ts';
import { type ImportMaps, openMaps } from '../manifest/open-maps.ts';
import { loadStoredManifest } from '../manifest/stored-manifest.ts';
import { listAncestors } from '../rejects/family.ts';
import { listFinishedParts, loadReplayed } from '../rejects/replayed.ts';
import { listUnfolded, toUncompared, type Uncompared } from '../run/unfolded.ts';
import { fingerprintPart } from './fingerprint-part.ts';

/** Of a part without a receipt `givenUp`, too: all that it may have sent. */
export type MayHaveSent = Uncompared & { readonly givenUp?: EncodedFingerprints };

/**
 * What a migration that ended early may have sent, as far as no fold has compared it with what others of its family have
 * sent: its parts that are in, unless they were folded, and all that the others would send. Which of these were begun is
 * not asked: a request may have arrived of which nobody noted anything. Throws ConfigError where this process cannot make
 * the events of the migration.
 */
export async function* listUncompared(
  staging: Staging,
  record: MigrationRecord,
  env: Environment,
): AsyncGenerator<MayHaveSent> {
  yield* listUnfolded(staging, record.name);
  const finished = await listFinishedParts(staging, record.name);
  const isOwn = createIsOwnSlice(record);
  let opened: Awaited<ReturnType<typeof openUnfinished>> | undefined;
  for await (const part of listParts(staging, toPartsPrefix(record))) {
    if (!isOwn(part.fileId) || finished.has(part.id)) continue;
    opened ??= await openUnfinished(staging, record, env);
    const givenUp = await opened.fingerprint(part);
    if (!givenUp) continue;
    const words = new Int32Array(givenUp.body.length / Int32Array.BYTES_PER_ELEMENT);
    Buffer.from(words.buffer).set(givenUp.body);
    const isLeft = await opened.createIsLeft(part);
    yield { ...toUncompared(part.id, words, givenUp.sections, isLeft), givenUp };
  }
}

/** For the parts that have no receipt. */
async function openUnfinished(staging: Staging, record: MigrationRecord, env: Environment) {
  const { manifest } = await loadStoredManifest(staging, record.name);
  const maps = await openMaps(staging, record, manifest, env).catch((error: unknown) => {
    throw error instanceof ConfigError ? explainNoMaps(record.name, error) : error;
  });
  const loadBefore = (part: string) => loadSentBefore(staging, record.name, part);
  const findOther = await createFindOther(staging, record);
  return {
    /** Undefined where the part is damaged: that must not keep its migration from being removed. */
    async fingerprint(part: PartMeta): Promise<EncodedFingerprints | undefined> {
      try {
        const records = await loadPart(staging, toPartsPrefix(record), part);
        const deps = { ...bindMaps(maps, record, part), sentBefore: await loadBefore(part.id) };
        const found = await fingerprintPart(records, part, deps);
        records.release();
        return found;
      } catch (error) {
        if (error instanceof SourceError) return undefined;
        throw error;
      }
    },
    /** Whether no other replay has a record in its books: that one compares it. */
    async createIsLeft({ id }: PartMeta): Promise<(record: number) => boolean> {
      const before = await loadBefore(id);
      return (number) => !findOther?.(id, number, before.get(number)?.sends);
    },
  };
}

const bindMaps = (maps: ImportMaps, record: MigrationRecord, part: PartMeta) => ({
  map: limitToStored(maps[part.idFrom ?? 'vendor'], findLatest(record, part)),
  vendorMap: limitToStored(maps.vendor, findLatest(record, part)),
});

/** Whether another replay has a record of a part of this replay; undefined for what is none. */
async function createFindOther(staging: Staging, record: MigrationRecord) {
  for await (const origin of listAncestors(staging, record)) {
    const replayed = await loadReplayed(staging, origin);
    const places = new Map<string, { readonly part: string; readonly record: number }[]>();
    for await (const { part, of } of listOrigins(staging, record.name))
      places.set(
        part,
        of.flatMap(({ part: from, records }) => records.map((number) => ({ part: from, record: number }))),
      );
    return (part: string, number: number, sends: ReadonlySet<string> | undefined): boolean => {
      const place = places.get(part)?.[number];
      const more = sends ? { sends: [...sends] } : {};
      return place !== undefined && replayed.find({ ...place, ...more, file: '', reason: '' }) !== undefined;
    };
  }
  return undefined;
}

const explainNoMaps = (name: string, error: ConfigError): ConfigError =>
  new ConfigError(
    `${getMessage(error)}. What "${name}" may have sent in the place of other events is known by its mapping alone; with --forget that is not asked, and nothing is merged at its destination any more`,
    error,
  );
