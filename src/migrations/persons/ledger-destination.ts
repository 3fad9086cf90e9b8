import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { LedgerAccess } from '../../state/ledger/ledger.ts';
import { listMigrations, loadLatestEpoch, loadMigration } from '../../state/migrations.ts';

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

export function isSameDestination(a: LedgerDestination, b: LedgerDestination): boolean {
  if (a.project !== undefined && b.project !== undefined)
    return getService(a) === getService(b) && a.project === b.project;
  return a.host === b.host && a.apiKey === b.apiKey;
}

const getService = ({ service, host }: LedgerDestination) => service ?? host;

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
    if (other === name) continue;
    // What it declared since it began counts.
    const epoch = await loadLatestEpoch(staging, other);
    const opened = epoch ?? (await loadMigration(staging, other))?.opening;
    const its = opened && toLedgerDestination(opened.manifest);
    if (!its) continue;
    const [here, there] = [destination.host ?? 'the bundled API', its.host ?? 'the bundled API'];
    const hasOneKey = ledger?.key !== undefined && epoch?.key === ledger.key && its.service === undefined;
    if (hasOneKey && its.project !== undefined && its.project !== destination.project && here !== there)
      throw new ConfigError(
        `"${name}" sends to project "${destination.project}" at ${here}, and "${other}" with the same key to project "${its.project}" at ${there}. A key is of one project, and Backhaul would merge persons wrongly if it kept them apart. Under destination of a new manifest, name "project: ${its.project}" with "service: ${there}" if both hosts lead to the same project; or add "service: ${here}" to that of "${name}" if these are two services, and resume it`,
      );
    if (!mayBeSameProject(destination, its)) continue;
    throw new ConfigError(
      `"${name}" sends to project "${destination.project}" at ${here}, and "${other}" to a project of that name at ${there}. Backhaul cannot know whether they are one project, and would merge persons wrongly if it guessed. Declare it in the manifest of "${name}", under destination: "service: ${there}" if both hosts lead to the same project, or "service: ${here}" if these are two projects; then run it again`,
    );
  }
}
