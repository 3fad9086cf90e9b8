/** The parts of an address, as a browser's `location` has them. */
export interface Address {
  /** With the port, where it is not the one that the scheme means. */
  readonly host: string;
  readonly pathname: string;
  /** Without its question mark; empty where there is none. */
  readonly query: string;
}

const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\\s]+)([^?#]*)(?:\?([^#]*))?/i;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' };

/**
 * Read by hand, not by `new URL`, which would spell hosts in another way from one Node.js to the next (I2).
 * Undefined where the text is no address with a host.
 * https://developer.mozilla.org/en-US/docs/Web/API/Location
 */
export function parseAddress(text: string): Address | undefined {
  const match = ADDRESS.exec(text.trim());
  if (!match) return undefined;
  const [, scheme = '', authority = '', path = '', query = ''] = match;
  const named = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  const port = DEFAULT_PORTS[scheme.toLowerCase()];
  const host = port !== undefined && named.endsWith(port) ? named.slice(0, -port.length) : named;
  if (host === '' || host.startsWith(':')) return undefined;
  return { host, pathname: path === '' ? '/' : path, query };
}
