import { BlockList, isIP } from 'node:net';
import type { Context } from 'hono';

/** Where the proxies of a deployment are: this machine, and private networks. */
const NEARBY = new BlockList();
NEARBY.addSubnet('127.0.0.0', 8, 'ipv4');
NEARBY.addSubnet('10.0.0.0', 8, 'ipv4');
NEARBY.addSubnet('172.16.0.0', 12, 'ipv4');
NEARBY.addSubnet('192.168.0.0', 16, 'ipv4');
NEARBY.addAddress('::1', 'ipv6');
NEARBY.addSubnet('fc00::', 7, 'ipv6');

/**
 * The client's address: that of the connection. A loopback or private address is a proxy's, and then the
 * client's address is the first one of `X-Forwarded-For`, if it is an IP address. From other addresses the
 * header is not read, as a client can write anything there. A request without a connection comes from this
 * process and counts as nearby.
 */
export function getSender(c: Context): string | undefined {
  const connection = getConnection(c);
  if (connection !== undefined && !isNearby(connection.address)) return connection.address;
  return findFirstAddress(c.req.header('x-forwarded-for') ?? '') ?? connection?.address;
}

/** The address is unknown when the client has closed the connection. */
function getConnection(c: Context): { readonly address: string | undefined } | undefined {
  const incoming: unknown = c.env?.incoming;
  if (typeof incoming !== 'object' || incoming === null || !('socket' in incoming)) return undefined;
  const { socket } = incoming;
  const hasAddress = typeof socket === 'object' && socket !== null && 'remoteAddress' in socket;
  return {
    address: hasAddress && typeof socket.remoteAddress === 'string' ? socket.remoteAddress : undefined,
  };
}

function isNearby(address: string | undefined): boolean {
  if (address === undefined) return false;
  const version = isIP(address);
  return version !== 0 && NEARBY.check(address, version === 4 ? 'ipv4' : 'ipv6'); // matches ::ffff:10.0.0.1 as well
}

/** `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`. */
function findFirstAddress(list: string): string | undefined {
  const entry = list.split(',', 1)[0]?.trim() ?? '';
  const address = /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1');
  // A zone (`fe80::1%eth0`) may be any text, and has a meaning on its own machine alone.
  return isIP(address) === 0 || address.includes('%') ? undefined : address;
}
