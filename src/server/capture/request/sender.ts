import { BlockList, isIP } from 'node:net';
import type { Context } from 'hono';
import { getIncoming } from '../../http/incoming.ts';

/** Where the proxies of a deployment are as a rule: this machine, and private networks. */
const NEARBY = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1', 'fc00::/7'];

/** The address of the client who sent a request; undefined where it is not known. */
export type GetSender = (c: Context) => string | undefined;

/**
 * The client's address is that of the connection. Where that is a proxy's, it is the first one of
 * `X-Forwarded-For`, if it is an IP address. From other addresses the header is not read, as a client can write
 * anything there. A request without a connection comes from this process and counts as a proxy's.
 */
export function createSenderLookup(proxies: readonly string[] = NEARBY): GetSender {
  const isTrusted = remember(toBlockList(proxies));
  return (c) => {
    const incoming = getIncoming(c);
    const address = incoming?.socket.remoteAddress; // unknown when the client has closed the connection
    if (incoming !== undefined && !isTrusted(address)) return address;
    const forwarded = c.req.header('x-forwarded-for');
    const first = forwarded === undefined ? undefined : findFirstAddress(forwarded);
    return first ?? address;
  };
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const MAX_REMEMBERED = 10_000;

/** Whether a list contains an address; a look into it takes as long as parsing a small event. */
function remember(list: BlockList): (address: string | undefined) => boolean {
  const known = new Map<string | undefined, boolean>();
  return (address) => {
    let answer = known.get(address);
    if (answer === undefined) {
      if (known.size >= MAX_REMEMBERED) known.clear();
      answer = contains(list, address);
      known.set(address, answer);
    }
    return answer;
  };
}

function contains(list: BlockList, address: string | undefined): boolean {
  if (address === undefined) return false;
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6'); // matches ::ffff:10.0.0.1 as well
}

/** `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`. */
export function findFirstAddress(list: string): string | undefined {
  const entry = list.split(',', 1)[0]?.trim() ?? '';
  const address = /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1');
  // A zone (`fe80::1%eth0`) may be any text, and has a meaning on its own machine alone.
  return isIP(address) === 0 || address.includes('%') ? undefined : address;
}
