import { createHash, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { encodeDocument, loadDocument, loadIfWhole } from '../document.ts';
import { LEDGERS, ledgerLayout, parseKnownKey, parseKnownName } from '../keys/ledger.ts';
import { clearStaging } from '../migrations.ts';
import { type HashForm, LEDGER_FORMAT } from './keyed-hash.ts';
import { assertLedgerHere } from './moved.ts';

/*
 * The ledger of one destination and project: what migrations have said about identities there, and what was
 * sent of it, as keyed hashes. It outlives the migrations, because a wrong merge cannot be undone.
 *
 * A migration takes a turn: it enters its facts into the tables (ledger-tables.ts), decides, and then sends.
 * What a turn is about to send is entered before it is sent, so a crash between the two loses nothing: the
 * same migration continues its turn and sends the same, and others take it as sent once the turn has ended.
 */

/** Whose an anonymous id is that was seen with several users. */
export const sharedDevices = z.enum(['none', 'first', 'last']);
export type SharedDevices = z.infer<typeof sharedDevices>;

/** Which ledger a migration belongs to. */
export interface LedgerAccess {
  readonly id: string;
  /** Part of the key of the hashes. Empty where the manifest names the project. Never stored (I10). */
  readonly secret: string;
  /** Fingerprint of the project key; the id itself where the manifest names no project. */
  readonly key?: string | undefined;
  /** What the manifest says; undefined: it is not asked. */
  readonly sharedDevices?: SharedDevices;
}

/** The bundled API is one destination, whatever its port. */
const BUNDLED_HOST = 'bundled';

/**
 * A project is known by its name in the manifest and the host, else by its key alone: a key is of one project,
 * whatever the names of its host. Of the key only a fingerprint is used, so a project whose key was changed
 * needs a name to be recognised.
 */
export function toLedgerAccess(destination: {
  /** Undefined for the bundled API. */
  readonly url: string | undefined;
  readonly project: string | undefined;
  /** The host that the manifest declares for the project. @default that of `url` */
  readonly service?: string | undefined;
  readonly apiKey: string;
}): LedgerAccess {
  const { url, service } = destination;
  const host = service ?? (url === undefined ? BUNDLED_HOST : new URL(url).host);
  const { project, apiKey } = destination;
  const key = createHmac('sha256', apiKey).update('backhaul ledger').digest('hex').slice(0, 32);
  if (project === undefined) return { id: key, secret: apiKey, key };
  const id = createHash('sha256').update(`backhaul ledger\n${host}\n${project}`).digest('hex');
  return { id: id.slice(0, 32), secret: '', key };
}

const ledgerDocument = z.strictObject({
  /** The form of the hashes of properties. */
  format: z.literal([1, 2, 3, 4]),
  /** Part of the key of the hashes; without it the same id would have the same hash in every ledger. */
  salt: z.string(),
  /** Hashes were dropped: nobody knows any more what was sent, so nothing is merged from then on. */
  forgottenAt: z.string().optional(),
  /** For all migrations: one that decided otherwise would merge what another one kept apart. @default none */
  sharedDevices: sharedDevices.exactOptional(),
});
type LedgerDocument = z.infer<typeof ledgerDocument>;

export interface Ledger {
  readonly id: string;
  /** See LedgerAccess. */
  readonly key?: string | undefined;
  /** Key of the hashes in its tables. */
  readonly hashKey: string;
  readonly hashForm: HashForm;
  readonly isForgotten: boolean;
  readonly sharedDevices: SharedDevices;
}

/** Creates the ledger where there is none. Throws ConfigError where it was exported. */
export async function openLedger(staging: Staging, access: LedgerAccess): Promise<Ledger> {
  await assertLedgerHere(staging, access);
  const key = ledgerLayout(access.id).document;
  const fresh: LedgerDocument = {
    format: LEDGER_FORMAT,
    salt: randomBytes(32).toString('hex'),
    ...(access.sharedDevices === undefined ? {} : { sharedDevices: access.sharedDevices }),
  };
  let document = await loadDocument(ledgerDocument, key, staging);
  if (!document && (await staging.create(key, encodeDocument(fresh)))) document = fresh;
  document ??= await loadDocument(ledgerDocument, key, staging);
  return toLedger(access, document ?? fresh, await hasForgottenMark(staging, access.id));
}

/** The ledger where there is one; writes nothing. Throws ConfigError where it was exported. */
export async function findLedger(staging: Staging, access: LedgerAccess): Promise<Ledger | undefined> {
  await assertLedgerHere(staging, access);
  const document = await loadDocument(ledgerDocument, ledgerLayout(access.id).document, staging);
  return document && toLedger(access, document, await hasForgottenMark(staging, access.id));
}

const hasForgottenMark = async (staging: Staging, id: string): Promise<boolean> =>
  (await staging.get(ledgerLayout(id).forgotten)) !== undefined;

/** Where a project is that was forgotten; `service`: what its manifest declares. */
const forgottenAt = z.object({ host: z.string().optional(), service: z.string().optional() });
export type ForgottenAt = z.infer<typeof forgottenAt>;

const forgottenMark = z.object({
  at: z.string(),
  /** Under a key: of the named project with that key. Two services may have the same key. */
  of: forgottenAt.optional(),
});

/** Whether its hashes were dropped. `isOther`: whether what was forgotten under a key is another project than one's own. */
export async function isForgotten(
  staging: Staging,
  id: string,
  isOther: (of: ForgottenAt) => boolean = () => false,
): Promise<boolean> {
  if (await hasForgottenMark(staging, id)) {
    const of = (await loadIfWhole(forgottenMark, ledgerLayout(id).forgotten, staging))?.of;
    return of === undefined || !isOther(of);
  }
  const document = await loadDocument(ledgerDocument, ledgerLayout(id).document, staging);
  return document?.forgottenAt !== undefined;
}

/** Whether any ledger has the mark: without one, nobody needs to know which of them belong together. */
export async function isAnyForgotten(staging: Staging): Promise<boolean> {
  for await (const { key } of staging.list(LEDGERS)) {
    const id = key.slice(LEDGERS.length, key.indexOf('/', LEDGERS.length));
    if (key === ledgerLayout(id).forgotten) return true;
  }
  return false;
}

/** What the migrations to it were decided with; undefined where there is no ledger of this id, or it is damaged. */
export async function loadSharedDevices(staging: Staging, id: string): Promise<SharedDevices | undefined> {
  const document = await loadIfWhole(ledgerDocument, ledgerLayout(id).document, staging);
  return document && (document.sharedDevices ?? 'none');
}

export const explainOtherAnswer = (wanted: SharedDevices, pinned: SharedDevices): ConfigError =>
  new ConfigError(
    `people.sharedDevices is ${wanted}, and earlier migrations to this project were decided with ${pinned}: a device would be one user's in one migration and another's, or nobody's, in the next. Set people.sharedDevices to ${pinned}`,
  );

/** Throws ConfigError where the manifest says another thing about shared devices than what was sent before. */
function toLedger(
  { id, secret, key, sharedDevices: wanted }: LedgerAccess,
  { format, salt, forgottenAt, sharedDevices: pinned = 'none' }: LedgerDocument,
  isMarked: boolean,
): Ledger {
  if (wanted !== undefined && wanted !== pinned) throw explainOtherAnswer(wanted, pinned);
  const hashKey = createHmac('sha256', salt).update(`ids\n${secret}`).digest('hex');
  return {
    id,
    key,
    hashKey,
    hashForm: format,
    isForgotten: isMarked || forgottenAt !== undefined,
    sharedDevices: pinned,
  };
}

/**
 * Drops all hashes of a ledger (`rm --forget`). What was merged there is then unknown for ever, so the ledger
 * stays as one that merges nothing, and one that is gone comes back as such. `of`: where `id` is the fingerprint of a
 * key, the named project with that key.
 */
export async function forgetLedger(staging: Staging, id: string, now: Date, of?: ForgottenAt): Promise<void> {
  const keys = ledgerLayout(id);
  const isOfAll = of === undefined || (await isForgotten(staging, id, (one) => isSameService(one, of)));
  const document = await loadDocument(ledgerDocument, keys.document, staging);
  const forgotten: LedgerDocument = {
    format: LEDGER_FORMAT,
    salt: randomBytes(32).toString('hex'),
    forgottenAt: document?.forgottenAt ?? now.toISOString(),
    ...(document?.sharedDevices === undefined ? {} : { sharedDevices: document.sharedDevices }),
  };
  // First the marks: whoever finds only some of the hashes must not merge by them.
  await staging.put(
    keys.forgotten,
    encodeDocument({ at: forgotten.forgottenAt, ...(isOfAll ? {} : { of }) }),
  );
  if (document) await staging.put(keys.document, encodeDocument(forgotten));
  await clearStaging(staging, keys.table('ids'));
  await clearStaging(staging, keys.table('properties'));
  await clearStaging(staging, keys.table('joined'));
  await clearStaging(staging, keys.table('earlier'));
}

const isSameService = (a: ForgottenAt, b: ForgottenAt) => a.host === b.host && a.service === b.service;

/** Which facts of a migration a ledger knows. */
export const knownFacts = z.strictObject({
  /** Fingerprint of the facts. */
  facts: z.string(),
  /** `noted`: they are only taken into account; nothing about persons was sent. */
  state: z.enum(['sent', 'noted']),
  /** Ids of the migrations that had the name so far: the folder of one may have been removed by hand. */
  migrations: z.array(z.string()).exactOptional(),
  /** How many receipts the one of this id had: a listing that shows fewer is behind. */
  receipts: z.strictObject({ of: z.string(), count: z.number().int().nonnegative() }).exactOptional(),
  /** By which it is known in which turns at other ledgers they may have been sent by then: see listSentElsewhere. */
  elsewhere: z.string().exactOptional(),
});
export type KnownFacts = z.infer<typeof knownFacts>;

/** Facts that are not known are taken in again, so a damaged document is none. */
export const loadKnownFacts = (staging: Staging, ledger: string, migration: string) =>
  loadIfWhole(knownFacts, ledgerLayout(ledger).known(migration), staging);

/** Names of the migrations that a ledger knows facts of. */
export async function listKnownMigrations(staging: Staging, ledger: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { key } of staging.list(ledgerLayout(ledger).knownFacts)) {
    const name = parseKnownName(key);
    if (name !== undefined) names.push(name);
  }
  return names;
}

/** Ids of the ledgers that know facts of a migration. */
export async function listLedgersOf(staging: Staging, migration: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key } of staging.list(LEDGERS)) {
    const id = parseKnownKey(key, migration);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

export async function saveKnownFacts(
  staging: Staging,
  ledger: string,
  { id, name }: { readonly id: string; readonly name: string },
  {
    facts,
    state,
    receipts,
    elsewhere,
  }: Pick<KnownFacts, 'facts' | 'state'> & {
    readonly receipts: number | undefined;
    /** @default none */
    readonly elsewhere?: string | undefined;
  },
): Promise<void> {
  const before = (await loadKnownFacts(staging, ledger, name))?.migrations ?? [];
  const known: KnownFacts = {
    facts,
    state,
    migrations: [...new Set([...before, id])],
    ...(receipts === undefined ? {} : { receipts: { of: id, count: receipts } }),
    ...(elsewhere === undefined ? {} : { elsewhere }),
  };
  await staging.put(ledgerLayout(ledger).known(name), encodeDocument(known));
}
