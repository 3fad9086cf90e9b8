import { setTimeout as sleep } from 'node:timers/promises';
import { readApiKey } from '../../../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../../../config/manifest/manifest.ts';
import { findProjectKey } from '../../../embedded/api-keys.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { loadStoredManifest } from '../../../migrations/manifest/stored-manifest.ts';
import { openServiceCounts, toPrivateUrl } from '../../../migrations/verify/ask-service.ts';
import { createBundledCounts } from '../../../migrations/verify/bundled-counts.ts';
import { readCountsFile } from '../../../migrations/verify/counts-file.ts';
import { keepVerification } from '../../../migrations/verify/kept.ts';
import { type Verification, type VerifyOptions, verifyMigration } from '../../../migrations/verify/verify.ts';
import { findBundledAt } from '../../../runtime/find-bundled-at.ts';
import type { BundledApi } from '../../../runtime/runtime.ts';
import { callApi } from '../../call-api.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { renderComparison } from '../../render/comparison/render-comparison.ts';
import { openStoreOf } from '../../storage.ts';
import { withBundled } from '../../with-runtime.ts';
import { parsePagePath, writePage } from '../../write-page.ts';

export interface VerifyCommandOptions {
  readonly counts?: string;
  readonly html?: string;
  readonly project?: string;
  readonly apiUrl?: string;
}

/** `backhaul verify <name>`: old against new. Exit 0 where all is equal or explained, 6 where something is not. */
export async function verify(
  context: CommandContext,
  name: string,
  options: VerifyCommandOptions,
): Promise<ExitCode> {
  const pagePath = parsePagePath(options.html, 'comparison.html');
  const store = await openStoreOf(context);
  const { manifest } = await loadStoredManifest(store.staging, name);
  const vendor = options.counts === undefined ? undefined : readCountsFile(options.counts);
  const compare = (openCounts: VerifyOptions['openCounts']) =>
    verifyMigration(store, name, { openCounts, vendor });
  const result = manifest.destination
    ? await compare(await chooseService(context, manifest, options))
    : await withBundled(context, (api) => compare(openBundled(api)));
  await keepVerification(store, result);
  await showVerification(context, result, pagePath);
  return result.unexplained === 0 ? EXIT.done : EXIT.differences;
}

/** Prints the comparison, and writes it as a page where a path is given. */
export async function showVerification(
  { terminal }: CommandContext,
  result: Verification,
  pagePath: string | undefined,
): Promise<void> {
  terminal.data(result, () => renderComparison(result));
  if (pagePath === undefined) return;
  const { renderComparisonPage } = await import('../../render/comparison/render-comparison-page.ts');
  await writePage(pagePath, 'the comparison', await renderComparisonPage(result, new Date()));
  terminal.info(`The comparison is in ${pagePath}, a page without scripts.`);
}

export const openBundled =
  (api: Pick<BundledApi, 'url' | 'personalKey'>): NonNullable<VerifyOptions['openCounts']> =>
  async (wanted) =>
    createBundledCounts((path) => callApi(api, { path: `/api/projects/@current/${path}` }), wanted);

/** Undefined where the vendor's counts alone are compared, because there is no key to ask the destination with. */
async function chooseService(
  { settings, env, terminal }: CommandContext,
  manifest: Manifest,
  { counts, project, apiUrl }: VerifyCommandOptions,
): Promise<VerifyOptions['openCounts']> {
  const address = toPrivateUrl(apiUrl ?? manifest.destination?.url ?? '');
  if (!URL.canParse(address)) throw new ConfigError(`--api-url takes an address, not "${apiUrl}"`);
  const own = await findBundledAt(settings, address);
  const personalKey = own?.personalKey ?? settings.personalApiKey;
  const { host } = new URL(address);
  if (personalKey === undefined) {
    const why = `BACKHAUL_PERSONAL_API_KEY is not set, and ${host} answers no questions without a personal key`;
    if (counts === undefined)
      throw new ConfigError(
        hasOwnKey(settings, manifest, env)
          ? `${host} does not answer as the bundled API of ${settings.dataDir}, whose key the manifest sends with: start it at that address with "backhaul serve", then verify again; or set BACKHAUL_PERSONAL_API_KEY`
          : `${why}: set it (scopes query:read and project:read), or compare with the vendor's counts: --counts vendor.csv`,
      );
    terminal.info(`${why}: only the vendor's counts are compared.`);
    return undefined;
  }
  const of = project === undefined ? { key: readApiKey(manifest, env) ?? '' } : { id: project };
  return (wanted) =>
    openServiceCounts({ url: own?.url ?? address, personalKey, project: of, wait: sleep }, wanted);
}

/** Whether a manifest sends with the key of the data folder's own API. */
function hasOwnKey({ dataDir }: CommandContext['settings'], manifest: Manifest, env: CommandContext['env']) {
  const key = findProjectKey(dataDir);
  return key !== undefined && key === readApiKey(manifest, env);
}
