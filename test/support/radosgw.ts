import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

const run = promisify(execFile);

export interface Radosgw {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  createBucket(name: string): Promise<void>;
  stop(): Promise<void>;
}

const NEEDED = [
  'setpriv',
  'ceph',
  'ceph-mon',
  'ceph-osd',
  'ceph-authtool',
  'monmaptool',
  'radosgw',
  'radosgw-admin',
];
const INSTALL = 'apt-get install -y --no-install-recommends radosgw ceph-mon ceph-osd ceph-common';

/**
 * A real S3 server of one's own: Ceph's object gateway over one monitor and one in-memory store, all
 * on 127.0.0.1 and free ports, ready in about 12 s. Undefined where Ceph is not installed, except in
 * CI, where that is an error.
 */
export async function startRadosgw(): Promise<Radosgw | undefined> {
  const missing: string[] = [];
  for (const binary of NEEDED) await run(binary, ['--version']).catch(() => missing.push(binary));
  if (missing.length > 0) {
    const message = `no S3 server to test against (${missing.join(', ')} missing); install it with: ${INSTALL}`;
    if (process.env['CI'] === 'true') throw new Error(message);
    process.stderr.write(`SKIPPED: ${message}\n`);
    return undefined;
  }

  const dir = await mkdtemp(join(tmpdir(), 'backhaul-s3-'));
  const daemons: ChildProcess[] = [];
  const stop = async () => {
    for (const daemon of daemons.reverse()) await end(daemon);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    return { ...(await start(dir, daemons)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(dir: string, daemons: ChildProcess[]): Promise<Omit<Radosgw, 'stop'>> {
  const [monPort, s3Port] = await freePorts(2);
  const endpoint = `http://127.0.0.1:${s3Port}`;
  const accessKeyId = randomUUID();
  const secretAccessKey = randomUUID();
  const fsid = randomUUID();
  const at = (name: string) => join(dir, name);
  const conf = at('ceph.conf');
  for (const folder of ['mon', 'osd', 'run', 'log', 'rgw']) await mkdir(at(folder));
  await writeFile(conf, config(dir, fsid, monPort ?? 0, s3Port ?? 0));
  // A test process that is killed takes its daemons along.
  const daemon = (binary: string, args: string[]) =>
    daemons.push(
      spawn('setpriv', ['--pdeathsig', 'KILL', '--', binary, '-c', conf, ...args, '-f'], { stdio: 'ignore' }),
    );

  const key = (name: string, caps: string[], create: string[] = []) =>
    run('ceph-authtool', [
      ...create,
      at('keyring'),
      '--gen-key',
      '-n',
      name,
      ...caps.flatMap((cap) => ['--cap', cap, 'allow *']),
    ]);
  // cephx throughout: with authentication off, radosgw 16 hangs on its first request.
  await key('client.rgw', ['mon', 'osd'], ['--create-keyring']);
  await key('client.admin', ['mon', 'osd', 'mgr']);
  await key('mon.', ['mon']);
  await run('monmaptool', [
    '--create',
    '--fsid',
    fsid,
    '--addv',
    'a',
    `[v2:127.0.0.1:${monPort}/0]`,
    at('monmap'),
  ]);
  await run('ceph-mon', [
    '-c',
    conf,
    '--mkfs',
    '-i',
    'a',
    '--keyring',
    at('keyring'),
    '--monmap',
    at('monmap'),
  ]);
  daemon('ceph-mon', ['-i', 'a']);

  const osdId = randomUUID();
  const osdKey = (await run('ceph-authtool', ['--gen-print-key'])).stdout.trim();
  await writeFile(at('osd-secret'), JSON.stringify({ cephx_secret: osdKey }));
  await run('ceph-authtool', ['--create-keyring', at('osd/keyring'), '--name', 'osd.0', '--add-key', osdKey]);
  await until('the monitor', () =>
    run('ceph', ['-c', conf, 'osd', 'new', osdId, '-i', at('osd-secret')], { timeout: 5_000 }),
  );
  await run('ceph-osd', ['-c', conf, '-i', '0', '--mkfs', '--osd-uuid', osdId]);
  daemon('ceph-osd', ['-i', '0']);
  await until('the store', async () => {
    const { stdout } = await run('ceph', ['-c', conf, 'osd', 'stat'], { timeout: 5_000 });
    if (!stdout.includes('1 up')) throw new Error(stdout);
  });

  await run('radosgw-admin', [
    '-c',
    conf,
    '-n',
    'client.rgw',
    'user',
    'create',
    '--uid=test',
    '--display-name=test',
    `--access-key=${accessKeyId}`,
    `--secret=${secretAccessKey}`,
  ]);
  daemon('radosgw', ['-n', 'client.rgw']);
  await until('the gateway', async () => {
    const socket = connect(s3Port ?? 0, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  }).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await readFile(at('log/client.rgw.log'), 'utf8').catch(() => '')}`);
  });

  return {
    endpoint,
    accessKeyId,
    secretAccessKey,
    async createBucket(name) {
      const client = new S3Client({
        endpoint,
        region: 'us-east-1',
        forcePathStyle: true,
        credentials: { accessKeyId, secretAccessKey },
      });
      await client.send(new CreateBucketCommand({ Bucket: name }));
      client.destroy();
    },
  };
}

const config = (dir: string, fsid: string, monPort: number, s3Port: number) => `[global]
fsid = ${fsid}
mon_host = [v2:127.0.0.1:${monPort}/0]
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_ipv6 = false
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = ${dir}/keyring
run_dir = ${dir}/run
admin_socket = ${dir}/run/$name.asok
log_file = ${dir}/log/$name.log
pid_file = ${dir}/run/$name.pid
mon_data = ${dir}/mon
mon_initial_members = a
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
osd_data = ${dir}/osd
osd_objectstore = memstore
memstore_device_bytes = 4294967296
osd_memory_target = 939524096
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
[osd]
keyring = ${dir}/osd/keyring
[client.rgw]
rgw_frontends = beast endpoint=127.0.0.1:${s3Port}
rgw_data = ${dir}/rgw
rgw_enable_apis = s3, admin
rgw_run_sync_thread = false
rgw_thread_pool_size = 64
`;

/** Asked for together, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  });
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}

/** A daemon says nothing when it is ready: ask until it answers. */
async function until(what: string, ask: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + 50_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${what} did not come up within 50 s`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  const force = setTimeout(() => daemon.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(force);
}
