import { z } from 'zod';

/**
 * What stored manifests say of the project that they send to. The key itself is stored nowhere, so two
 * migrations are taken to send to one project when they name one address and one project or variable.
 */
export interface LedgerDestination {
  /** Undefined for the bundled API. */
  readonly host: string | undefined;
  readonly project: string | undefined;
  /** `${VARIABLE}` */
  readonly apiKey: string | undefined;
}

const stored = z.looseObject({
  destination: z
    .looseObject({ url: z.string(), apiKey: z.string(), project: z.string().optional() })
    .optional(),
});

/** Undefined for what is no manifest. */
export function toLedgerDestination(manifest: unknown): LedgerDestination | undefined {
  const { data } = stored.safeParse(manifest);
  if (!data) return undefined;
  const { destination } = data;
  if (!destination) return { host: undefined, project: undefined, apiKey: undefined };
  if (!URL.canParse(destination.url)) return undefined;
  const { project, apiKey, url } = destination;
  return { host: new URL(url).host, project, apiKey };
}

export function isSameDestination(a: LedgerDestination, b: LedgerDestination): boolean {
  if (a.host !== b.host) return false;
  if (a.project !== undefined && b.project !== undefined) return a.project === b.project;
  return a.apiKey === b.apiKey;
}
