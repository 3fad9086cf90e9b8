import { z } from 'zod';
import type { Staging } from '../../../contract/staging.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { loadAcceptanceMark } from '../../../state/destination-marks.ts';
import { loadLatestEpoch } from '../../../state/epochs.ts';
import type { ForgottenAt, LedgerAccess } from '../../../state/ledger/ledger.ts';
import { listMigrations, loadMigration, loadOpening } from '../../../state/migrations.ts';
import { hasFacts } from '../facts-of.ts';
import { areFactsRemoved, loadLastLedger } from '../facts-removed.ts';

/**
 * What stored manifests say of the project that they send to. The key itself is stored nowhere, so two
 * migrations are taken to send to one project when they name one address and one project or variable.
 */
export interface LedgerDestination {
  /** Undefined for the bundled API. */
  readonly host: string | undefined;
  readonly project: string | undefined;
  /** The host that the manifest declares for the project. */
  readonly service: string | undefined;
  /** `${VARIABLE}` */
  readonly apiKey: string | undefined;
}

const stored = z.looseObject({
  destination: z
    .looseObject({
      url: z.string(),
      apiKey: z.string(),
      project: z.string().optional(),
      service: z.string().optional(),
    })
    .optional(),
});

/** Undefined for what is no manifest. */
export function toLedgerDestination(manifest: unknown): LedgerDestination | undefined {
  const { data } = stored.safeParse(manifest);
  if (!data) return undefined;
  const { destination } = data;
  if (!destination) return { host: undefined, project: undefined, service: undefined, apiKey: undefined };
  if (!URL.canParse(destination.url)) return undefined;
  const { project, service, apiKey, url } = destination;
  return { host: new URL(url).host, project, service, apiKey };
}

/** That of a migration: what it declared since it began counts. */
export async function loadDestination(
  staging: Staging,
  name: string,
): Promise<LedgerDestination | undefined> {
  const opened = (await loadLatestEpoch(staging, name)) ?? (await loadMigration(staging, name))?.opening;
  return opened && toLedgerDestination(opened.manifest);
}

export function isSameDestination(a: LedgerDestination, b: LedgerDestination): boolean {
  if (a.project !== undefined && b.project !== undefined)
    return getService(a) === getService(b) && a.project === b.project;
  return a.host === b.host && a.apiKey === b.apiKey;
}

const getService = ({ service, host }: ForgottenAt) => service ?? host;

/**
 * Whether two migrations name one project at two hosts, and nobody has declared whether these are one service: apart,
 * each could merge what the other one forbids; together, persons of two projects would be taken for the same.
 */
const mayBeSameProject = (a: LedgerDestination, b: LedgerDestination): boolean =>
  a.project !== undefined &&
  a.project === b.project &&
  a.host !== b.host &&
  a.service === undefined &&
  b.service === undefined;

/** Whether a project, and one whose name is not at hand, are at two services because somebody has declared so. */
export const areDeclaredApart = (a: ForgottenAt, b: LedgerDestination): boolean =>
  b.project !== undefined &&
  getService(a) !== getService(b) &&
  (a.service !== undefined || b.service !== undefined);

/** A key is of one project of a service; two services may have the same one. */
const isAtSameService = (a: LedgerDestination, b: LedgerDestination): boolean =>
  getService(a) === getService(b);

/** Whether migrations of one key that name different projects send to one project all the same. */
export const hasTwoNames = (a: LedgerDestination, b: LedgerDestination): boolean =>
  a.project !== undefined && b.project !== undefined && a.project !== b.project && isAtSameService(a, b);

/**
 * Throws ConfigError where it cannot be known whether another migration sends to the same project: it names the same
 * one at another host, or another one there with the same key. `ledger`: where the key is known.
 */
export async function assertOneProject(
  staging: Staging,
  name: string,
  destination: LedgerDestination | undefined,
  ledger?: Pick<LedgerAccess, 'id' | 'key'>,
): Promise<void> {
  if (destination?.project === undefined || destination.service !== undefined) return;
  for (const other of await listMigrations(staging)) {
    if (other === name || (await isAtHost(staging, other, destination.host))) continue;
    const its = await loadDestination(staging, other);
    if (!its) continue;
    const [here, there] = [destination.host ?? 'the bundled API', its.host ?? 'the bundled API'];
    const hasAnother = its.project !== undefined && its.project !== destination.project;
    const mayHaveItsKey = hasAnother && here !== there && its.service === undefined;
    if (mayHaveItsKey && ledger?.key !== undefined && (await hasLastKey(staging, other, ledger.key)))
      throw new ConfigError(
        `"${name}" sends to project "${destination.project}" at ${here}, and "${other}" with the same key to project "${its.project}" at ${there}. A key is of one project, and Backhaul would merge persons wrongly if it kept them apart. Under destination of a new manifest, name "project: ${its.project}" with "service: ${there}" if both hosts lead to the same project; or add "service: ${here}" to that of "${name}" if these are two services, and run it again`,
      );
    if (!mayBeSameProject(destination, its)) continue;
    throw new ConfigError(
      `"${name}" sends to project "${destination.project}" at ${here}, and "${other}" to a project of that name at ${there}. Backhaul cannot know whether they are one project, and would merge persons wrongly if it guessed. Declare it in the manifest of "${name}", under destination: "service: ${there}" if both hosts lead to the same project, or "service: ${here}" if these are two projects; then run it again`,
    );
  }
}

/** Its address never changes, so one request says it of most. */
async function isAtHost(staging: Staging, name: string, host: string | undefined): Promise<boolean> {
  const opened = toLedgerDestination((await loadOpening(staging, name))?.manifest);
  return opened !== undefined && opened.host === host;
}

/**
 * Throws ConfigError where a new migration gives the project of a key a second name: under both, it would be decided
 * about twice. The name of the first migration that events were accepted of counts, so that where an earlier
 * version accepted two, one of them stays in use. Migrations under both continue: what they send is decided together.
 */
export async function assertFirstName(
  staging: Staging,
  name: string,
  destination: LedgerDestination | undefined,
  ledger: Pick<LedgerAccess, 'key'> | undefined,
): Promise<void> {
  if (destination?.project === undefined || ledger?.key === undefined) return;
  let first:
    | { readonly name: string; readonly project: string | undefined; readonly createdAt: string }
    | undefined;
  for (const other of await listMigrations(staging)) {
    if (other === name || !(await hasLastKey(staging, other, ledger.key))) continue;
    if (!(await hasSent(staging, other))) continue;
    const its = await loadDestination(staging, other);
    const createdAt = (await loadMigration(staging, other))?.createdAt;
    if (its?.project === undefined || createdAt === undefined || !isAtSameService(its, destination)) continue;
    if (first && first.createdAt <= createdAt) continue;
    first = { name: other, project: its.project, createdAt };
  }
  if (!first || first.project === destination.project) return;
  throw new ConfigError(
    `"${name}" names project "${destination.project}", and "${first.name}" sent events with the same key to project "${first.project}". A key is of one project, and persons are merged wrongly where one has two names. If it is the same project, write "project: ${first.project}" under destination of "${name}" (the name is used by Backhaul alone); else give "${name}" the key of its own project. Then run it again; nothing was sent`,
  );
}

/** Whether events of a migration were accepted. The mark goes when it is removed, its receipts stay. */
const hasSent = async (staging: Staging, name: string): Promise<boolean> =>
  (await areFactsRemoved(staging, name))
    ? hasFacts(staging, name)
    : (await loadAcceptanceMark(staging, name)) !== undefined;

/** Whether its last producer had the key, also where it was removed. */
const hasLastKey = async (staging: Staging, name: string, key: string): Promise<boolean> =>
  (await loadLastLedger(staging, name))?.key === key;
