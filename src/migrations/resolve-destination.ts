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
export function resolveDestination(
  manifest: Manifest,
  { env, bundled }: DestinationDeps,
): DeliverOptions['destination'] {
  const apiKey = readApiKey(manifest, env);
  if (manifest.destination && apiKey !== undefined) return { ...manifest.destination, apiKey };
  if (!bundled) {
    throw new ConfigError(
      `migration "${manifest.name}" goes to the bundled API, and this process has none: start it with the same BACKHAUL_DATA_DIR as the run, or name a destination in the manifest`,
    );
  }
  return { url: bundled.url, apiKey: bundled.projectKey };
}

/** The ledger of a manifest's destination and project; throws as resolveDestination does. */
export function resolveLedger(manifest: Manifest, deps: DestinationDeps): LedgerAccess {
  const { apiKey } = resolveDestination(manifest, deps);
  const { url, project, service } = manifest.destination ?? {};
  const access = toLedgerAccess({ url, project, service, apiKey });
  return { ...access, sharedDevices: manifest.people.sharedDevices ?? 'none' };
}
