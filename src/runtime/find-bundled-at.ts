import type { Settings } from '../../config/settings.ts';
import { readApiKeys } from '../embedded/api-keys.ts';
import { findRunningApi } from '../embedded/supervisor.ts';

/** How the bundled API of the data folder is asked. */
export interface OwnApi {
  readonly url: string;
  readonly personalKey: string;
}

/**
 * The bundled API of the data folder, where it is what a manifest names by address: it runs there, or
 * BACKHAUL_API_URL or BACKHAUL_PUBLIC_URL name that address. So its key goes to nobody else. Starts nothing.
 */
export async function findBundledAt(
  { dataDir, apiUrl, publicUrl }: Pick<Settings, 'dataDir' | 'apiUrl' | 'publicUrl'>,
  address: string,
): Promise<OwnApi | undefined> {
  const api = apiUrl === undefined ? await findRunningApi(dataDir) : { url: apiUrl, ...readApiKeys(dataDir) };
  if (api === undefined) return undefined;
  const own = [api.url, ...(publicUrl === undefined ? [] : [publicUrl])];
  return own.some((each) => isSameHost(each, address))
    ? { url: api.url, personalKey: api.personalKey }
    : undefined;
}

const isSameHost = (a: string, b: string): boolean => toHost(a) === toHost(b);

/** `localhost` may be either address of this machine. */
function toHost(url: string): string {
  const { protocol, host, hostname, port } = new URL(url);
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
    ? `${protocol}//localhost:${port}`
    : `${protocol}//${host}`;
}
