import type { Environment } from '../../config/environment.ts';
import { readApiKey } from '../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import type { DeliverOptions } from '../deliver/deliver.ts';
import { ConfigError } from '../lib/errors.ts';
import { type LedgerAccess, toLedgerAccess } from '../state/ledger/ledger.ts';

export interface DestinationDeps {
  /** For the variables that manifests name. */
  readonly env: Environment;
  /** The bundled API, where this process runs it or is attached to it. */
  readonly bundled: { readonly url: string; readonly projectKey: string } | undefined;
}

/** Address and key of a manifest's destination. Throws ConfigError where this process does not know them. */
export function resolveDestination(manifest: Manifest, deps: DestinationDeps): DeliverOptions['destination'] {
  const own = readOwn(manifest, deps.env);
  if (own) return own;
  const { url, projectKey } = requireBundled(manifest, deps.bundled);
  return { url, apiKey: projectKey };
}

/** Of the bundled API, the key is enough: it may be away. */
export interface LedgerDeps {
  readonly env: Environment;
  readonly bundled: { readonly projectKey: string } | undefined;
}

/** The ledger of a manifest's destination and project; throws as resolveDestination does. */
export function resolveLedger(manifest: Manifest, { env, bundled }: LedgerDeps): LedgerAccess {
  const apiKey = readOwn(manifest, env)?.apiKey ?? requireBundled(manifest, bundled).projectKey;
  const { url, project, service } = manifest.destination ?? {};
  const access = toLedgerAccess({ url, project, service, apiKey });
  return { ...access, sharedDevices: manifest.people.sharedDevices ?? 'none' };
}

function readOwn(manifest: Manifest, env: Environment): DeliverOptions['destination'] | undefined {
  const apiKey = readApiKey(manifest, env);
  return manifest.destination && apiKey !== undefined ? { ...manifest.destination, apiKey } : undefined;
}

function requireBundled<T>({ name }: Manifest, bundled: T | undefined): T {
  if (bundled !== undefined) return bundled;
  throw new ConfigError(
    `migration "${name}" goes to the bundled API, and this process has none: start it with the same BACKHAUL_DATA_DIR as the run, or name a destination in the manifest`,
  );
}
