import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
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

/** Throws ConfigError where it cannot be known whether another migration sends to the same project. */
export async function assertOneProject(
  staging: Staging,
  name: string,
  destination: LedgerDestination | undefined,
): Promise<void> {
  if (destination?.project === undefined || destination.service !== undefined) return;
  for (const other of await listMigrations(staging)) {
    if (other === name) continue;
    // What it declared since it began counts.
    const opened = (await loadLatestEpoch(staging, other)) ?? (await loadMigration(staging, other))?.opening;
    const its = opened && toLedgerDestination(opened.manifest);
    if (!its || !mayBeSameProject(destination, its)) continue;
    const [here, there] = [destination.host ?? 'the bundled API', its.host ?? 'the bundled API'];
    throw new ConfigError(
      `"${name}" sends to project "${destination.project}" at ${here}, and "${other}" to a project of that name at ${there}. Backhaul cannot know whether they are one project, and would merge persons wrongly if it guessed. Declare it in the manifest of "${name}", under destination: "service: ${there}" if both hosts lead to the same project, or "service: ${here}" if these are two projects; then run it again`,
    );
  }
}
