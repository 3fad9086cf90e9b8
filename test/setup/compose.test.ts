import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { listSettingFields } from '../../config/settings.ts';

const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');

/** The part of the Compose specification that this file uses; any other key is a mistake. */
const service = z.strictObject({
  build: z.literal('.').optional(),
  image: z.string(),
  init: z.boolean().optional(),
  hostname: z.string().optional(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  restart: z.enum(['no', 'unless-stopped']),
  stop_grace_period: z.string().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
      start_period: z.string().optional(),
    })
    .optional(),
});
const compose = z.strictObject({
  'x-backhaul': z.unknown(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});
const { services, volumes } = compose.parse(parse(text, { merge: true }));
const named = Object.entries(services);

test('every port is bound to the loopback address', () => {
  const ports = named.flatMap(([, { ports = [] }]) => ports);
  expect(ports.length).toBeGreaterThan(0);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
});

test('no secret has a default: without one, nothing starts', () => {
  const settings = named.flatMap(([, { environment }]) => Object.entries(environment));
  const secret = settings.filter(
    ([name]) => /PASSWORD|SECRET|ACCESS_KEY|REDISCLI_AUTH|REDIS_URL/.test(name) && name !== 'DATABASE_URL',
  );
  expect(secret.length).toBeGreaterThan(5);
  for (const [, value] of secret) expect(value).toMatch(/\$\{[A-Z0-9_]+:\?/);
  expect(text).not.toMatch(/\$\{[A-Z0-9_]*(PASSWORD|SECRET|ACCESS_KEY)[A-Z0-9_]*(:?-)[^}]/);
});

test('every service that another one waits for has a health check, and volumes are declared', () => {
  const waitedFor = named.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
  expect(waitedFor).toContain('queue');
  for (const name of waitedFor) expect(services[name]?.healthcheck).toBeDefined();
  for (const mount of named.flatMap(([, { volumes: mounts = [] }]) => mounts)) {
    const source = mount.split(':')[0] ?? '';
    if (!source.startsWith('.')) expect(Object.keys(volumes)).toContain(source);
  }
});

test('only the API owns the data folder: workers and runs are told where it is', () => {
  const [api, worker] = [services['api'], services['worker']];
  expect(worker?.environment['BACKHAUL_API_URL']).toBe('http://api:8000');
  expect(api?.environment['BACKHAUL_API_URL']).toBeUndefined();
  expect(api?.environment['BACKHAUL_PORT']).toBe('8000');
  expect(worker?.environment['REDIS_URL']).toBe(api?.environment['REDIS_URL']);
  expect(worker?.volumes).toEqual(api?.volumes); // the keys and the staging are in it
  expect(Object.keys(worker?.depends_on ?? {})).toContain('api'); // its first start creates the keys
});

test('the queue keeps its log and evicts nothing', () => {
  const command = services['queue']?.command?.join(' ');
  expect(command).toContain('--appendonly yes');
  expect(command).toContain('--maxmemory-policy noeviction');
});

test('the object store and the database start only with their profile', () => {
  const asked = named.filter(([, { profiles }]) => profiles !== undefined).map(([name]) => name);
  expect(asked.sort()).toEqual(['bucket', 'database', 'object-store']);
});

test('the variables given to Backhaul are settings of Backhaul', () => {
  const known = new Set(listSettingFields().map(({ env }) => env));
  const given = ['api', 'worker'].flatMap((name) => Object.keys(services[name]?.environment ?? {}));
  expect(given.length).toBeGreaterThan(10);
  expect(given.filter((name) => !known.has(name))).toEqual([]);
});

test('the image installs from the lock file and has the folders of the package', () => {
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const [build = '', image = ''] = read('Dockerfile')
    .split(/^FROM .*$/m)
    .slice(1);
  for (const stage of [build, image]) {
    expect(stage).toContain('COPY package.json package-lock.json ./');
    expect(stage).toMatch(/npm ci /);
    expect(stage).not.toMatch(/npm (install|i) /);
  }
  const { bin, files } = z
    .object({ bin: z.object({ backhaul: z.string() }), files: z.array(z.string()) })
    .parse(JSON.parse(read('package.json')));
  const copied = [...image.matchAll(/^COPY (?:--from=build )?(\S+) (\S+)$/gm)].map(([, , target]) => target);
  const folders = files.filter((pattern) => !pattern.startsWith('!'));
  expect(folders.filter((folder) => !copied.some((target) => `${folder}/`.startsWith(`${target}/`)))).toEqual(
    [],
  );
  expect(image).toContain(`ENTRYPOINT ["node", "/app/${bin.backhaul}"]`);

  const allowed = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path]) => path);
  const sources = [...build.matchAll(/^COPY ((?:\S+ )+)\S+$/gm)].flatMap(([, list]) =>
    (list ?? '').trim().split(' '),
  );
  expect(sources.length).toBeGreaterThan(4);
  expect(sources.filter((source) => !allowed.includes(source))).toEqual([]);
});
