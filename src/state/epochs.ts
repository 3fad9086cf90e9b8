import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout, parseEpochKey } from './keys/migration.ts';
import { identify, type Named, opening } from './migrations.ts';
import { recoveryHint } from './recovery-hint.ts';

/*
 * Epochs, the fencing tokens of producers. Each is created once. A producer that slept may open one while its name is
 * that of another migration by then, so each says of which it is, and one of another counts for nothing: it only takes a
 * number.
 */

/** One epoch: a producer acquired the lease, by `run`, by `resume`, or after Redis lost its memory. */
const epochRecord = z.strictObject({
  openedAt: z.string(),
  /** Random: a producer recognises the epoch that it created itself when the response was lost. */
  producer: z.string().optional(),
  /** Limits may differ from epoch to epoch. */
  ...opening.shape,
  /** The ledger of destination and project; where no project is named, a fingerprint of the key. */
  ledger: z.string().exactOptional(),
  /** Fingerprint of the project key, where a project is named: what names none is found by it. */
  key: z.string().exactOptional(),
  /** Asked for by `resume --accept-refusals`. */
  acceptRefusals: z.boolean().exactOptional(),
});
export type Epoch = z.infer<typeof epochRecord>;
/** What an epoch is opened with. */
export type EpochOpening = Omit<Epoch, 'openedAt'>;

/** `of`: id of the migration, absent in what earlier versions wrote. */
const storedEpoch = epochRecord.extend({ of: z.string().exactOptional() });

/** `id`: undefined where no record says it; then each is taken for one of it. */
interface Owner {
  readonly name: string;
  readonly id: string | undefined;
}

/** Undefined where there is none of this number, or where it is of another migration. */
export async function loadEpoch(staging: Staging, of: Named, number: number): Promise<Epoch | undefined> {
  const found = await loadEpochAt(staging, await identify(staging, of), number);
  return found === 'of_another' ? undefined : found;
}

async function loadEpochAt(
  staging: Staging,
  { name, id }: Owner,
  number: number,
): Promise<Epoch | 'of_another' | undefined> {
  const key = layout(name).epoch(number);
  const found = await loadDocument(storedEpoch, key, staging);
  const named = naming.safeParse(found?.manifest).data?.name ?? name;
  // Its manifest would be run in place of this one's.
  if (named !== name)
    throw new SourceError(
      `${staging.location}: ${key} is that of migration "${named}"; ${recoveryHint(key)}`,
    );
  if (found?.of === undefined) return found;
  const { of, ...epoch } = found;
  return of === (id ?? of) ? epoch : 'of_another';
}

const naming = z.object({ name: z.string() });

interface Latest {
  readonly number: number;
  /** Undefined where it was removed meanwhile. */
  readonly epoch: Epoch | undefined;
  /** Why it cannot be read: it is taken for one of this migration. */
  readonly damage?: SourceError;
}

/** The newest epoch of a migration whose number is above `above`. */
async function findLatest(staging: Staging, of: Named, above = 0): Promise<Latest | undefined> {
  // At once: on S3 each is a round trip.
  const [owner, numbers] = await Promise.all([
    identify(staging, of),
    listNumbers(staging, layout(typeof of === 'string' ? of : of.name).epochs),
  ]);
  for (const number of numbers.sort((a, b) => b - a)) {
    if (number <= above) break;
    try {
      const epoch = await loadEpochAt(staging, owner, number);
      if (epoch !== 'of_another') return { number, epoch };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      return { number, epoch: undefined, damage: error };
    }
  }
  return undefined;
}

async function listNumbers(staging: Staging, epochs: string): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { key } of staging.list(epochs)) numbers.push(parseEpochKey(key) ?? 0);
  return numbers;
}

/** 0 before the first. */
export const loadLatestEpochNumber = async (staging: Staging, of: Named): Promise<number> =>
  (await findLatest(staging, of))?.number ?? 0;

/** Whether a later producer has the migration. Reads no document where there is no higher number. */
export const isEpochOver = async (staging: Staging, of: Named, epoch: number): Promise<boolean> =>
  (await findLatest(staging, of, epoch)) !== undefined;

/** Throws SourceError where it is damaged. */
export async function loadLatestEpoch(staging: Staging, of: Named): Promise<Epoch | undefined> {
  const { epoch, damage } = (await findLatest(staging, of)) ?? {};
  if (damage) throw damage;
  return epoch;
}

/**
 * Opens epoch `number`, or the next one where other migrations that had the name took it, and returns its number. Created
 * with If-None-Match, so that of two producers that open it one gets it; undefined for the other, which must end (I5).
 */
export async function openEpoch(
  staging: Staging,
  of: Named,
  number: number,
  record: Epoch,
): Promise<number | undefined> {
  const owner = await identify(staging, of);
  const { name, id } = owner;
  const body = encodeDocument({ ...record, ...(id === undefined ? {} : { of: id }) });
  for (let free = number; ; free += 1) {
    if (await staging.create(layout(name).epoch(free), body)) return free;
    const existing = await loadEpochAt(staging, owner, free);
    if (existing === 'of_another') continue;
    const isOwn = record.producer !== undefined && existing?.producer === record.producer;
    return isOwn ? free : undefined;
  }
}
