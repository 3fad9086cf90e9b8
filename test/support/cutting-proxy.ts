import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy that can split the network between a server and some of its clients. */
export interface CuttingProxy {
  readonly port: number;
  /**
   * From here on nothing passes between the server and these processes, in either direction: nobody is told, bytes
   * wait as they do in a network, and new connections lead nowhere.
   */
  cut(pids: readonly number[]): void;
  /** What was held back arrives, late, and all that follows. */
  heal(): void;
  stop(): Promise<void>;
}

interface Line {
  readonly client: Socket;
  /** Undefined where the process was cut off when it connected: it is connected once the network is whole. */
  server: Socket | undefined;
  isHeld: boolean;
}

/** Knows clients by process: Linux only. */
export async function startCuttingProxy(target: { host: string; port: number }): Promise<CuttingProxy> {
  const lines = new Set<Line>();
  let cutOff: readonly number[] = [];

  const isCut = ({ client }: Line): boolean => cutOff.some((pid) => owns(pid, client));
  const join = (line: Line) => {
    const server = connect(target);
    line.server = server;
    const end = () => {
      lines.delete(line);
      line.client.destroy();
      server.destroy();
    };
    for (const socket of [line.client, server]) socket.setNoDelay(true).on('error', end).on('close', end);
    line.client.pipe(server);
    server.pipe(line.client);
  };
  const hold = (line: Line) => {
    const { client, server } = line;
    line.isHeld = true;
    if (!server) return;
    client.unpipe(server).pause();
    server.unpipe(client).pause();
  };
  const release = (line: Line) => {
    const { client, server } = line;
    line.isHeld = false;
    if (!server) return join(line);
    client.pipe(server);
    server.pipe(client);
  };

  const proxy = createServer({ pauseOnConnect: true }, (client) => {
    const line: Line = { client, server: undefined, isHeld: false };
    lines.add(line);
    if (!isCut(line)) return join(line);
    hold(line);
    client.on('error', () => lines.delete(line)).on('close', () => lines.delete(line));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no address');
  return {
    port: address.port,
    cut(pids) {
      cutOff = pids;
      for (const line of lines) if (isCut(line)) hold(line);
    },
    heal() {
      cutOff = [];
      for (const line of lines) if (line.isHeld) release(line);
    },
    async stop() {
      for (const { client, server } of lines) {
        client.destroy();
        server?.destroy();
      }
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

/** Whether the other end of a connection on this machine is a socket of that process. */
function owns(pid: number, client: Socket): boolean {
  const inode = findInode(client.remotePort ?? 0, client.localPort ?? 0);
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`) === `socket:[${inode}]`;
    } catch {
      return false; // closed this very moment
    }
  });
}

const toHex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

/** https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html */
function findInode(from: number, to: number): string | undefined {
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/);
    if (local.endsWith(`:${toHex(from)}`) && remote.endsWith(`:${toHex(to)}`)) return inode;
  }
  return undefined;
}
