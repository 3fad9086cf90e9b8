import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { loadSettings } from '../../config/load-settings.ts';
import { listSettingFields } from '../../config/settings.ts';
import {
  createEnvLab,
  listVariables,
  parseEnv,
  readCompose,
  readText,
  switchOn,
} from '../support/compose.ts';

const text = readText('docker-compose.yml');
const example = readText('deploy/example.env');
const { services, volumes } = readCompose();
const named = Object.entries(services);
const lab = createEnvLab();
afterAll(lab.remove);

test('every port is bound to the loopback address', () => {
  const ports = named.flatMap(([, { ports = [] }]) => ports);
  expect(ports.length).toBeGreaterThan(0);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
});

test('no secret has a default, and those of a profile are not asked for without it', () => {
  const secret = /PASSWORD|SECRET|ACCESS_KEY|REDISCLI_AUTH|REDIS_URL/;
  const given = named.flatMap(([name, { environment }]) =>
    Object.entries(environment)
      .filter(([variable]) => secret.test(variable))
      .map(([variable, value]) => ({ name, variable, value })),
  );
  expect(given.length).toBeGreaterThan(10);
  for (const { value } of given) expect(value).toMatch(/\$\{[A-Z0-9_]+(:\?.*|:-)\}/);
  // Compose fills in the variables of all services, also of those that do not start.
  const asked = new Set([...text.matchAll(/(?<!\$)\$\{(\w+):\?/g)].map(([, name]) => name));
  expect(asked).toEqual(new Set(['QUEUES_PASSWORD', 'REDIS_PASSWORD']));
});

test('images are pinned: by tag and digest, our own by the version', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readText('package.json')));
  for (const [, { image, build }] of named)
    if (build === undefined) expect(image).toMatch(/^[\w/]+:\d[\w.-]*@sha256:[0-9a-f]{64}$/);
    else expect(image).toBe(`backhaul:${version}`);
  expect(readText('Dockerfile')).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/m);
});

describe('the .env that deploy/make-env.sh writes', () => {
  lab.make();
  const written = lab.read();
  const variables = parseEnv(written);

  test('has a password of its own for each that the example leaves open, and is read by nobody else', () => {
    const open = [...example.matchAll(/^([A-Z]\w*)=$/gm)].map(([, name]) => name ?? '');
    expect(open.length).toBeGreaterThan(5);
    expect(Object.keys(variables)).toEqual(open);
    expect(new Set(open.map((name) => variables[name])).size).toBe(open.length);
    for (const name of open) expect(variables[name]).toMatch(/^[0-9a-f]{48}$/);
    expect(statSync(lab.path).mode & 0o777).toBe(0o600);
  });

  test('is never replaced', () => {
    expect(() => lab.make()).toThrow(/\.env exists and is kept/);
    expect(lab.read()).toBe(written);
  });

  test.each([
    ['', {}],
    [', without links', { ln: 'exit 1' }],
  ])('is not replaced where another run made it meanwhile%s', (_, programs) => {
    const later = createEnvLab();
    onTestFinished(later.remove);
    const od = 'echo FIRST=1 > .env; command -p od "$@"';
    expect(() => later.make({ ...programs, od })).toThrow(/\.env exists and is kept/);
    expect(later.read()).toBe('FIRST=1\n');
    expect(readdirSync(dirname(later.path)).filter((name) => name.startsWith('.env.'))).toEqual([]);
  });

  test('is the same without links', () => {
    const other = createEnvLab();
    onTestFinished(other.remove);
    other.make({ ln: 'exit 1' });
    expect(Object.keys(parseEnv(other.read()))).toEqual(Object.keys(variables));
    expect(statSync(other.path).mode & 0o777).toBe(0o600);
  });

  test('starts a rehearsal as it is, and as well without what profiles need', () => {
    const { REDIS_PASSWORD = '', QUEUES_PASSWORD = '' } = variables;
    for (const given of [variables, { REDIS_PASSWORD, QUEUES_PASSWORD }]) {
      const filled = readCompose(given).services;
      for (const name of ['api', 'worker']) {
        const settings = loadSettings(filled[name]?.environment ?? {}, '/');
        expect(settings.redisUrl).toBe(`redis://:${REDIS_PASSWORD}@queue:6379`);
        expect([settings.databaseUrl, settings.staging, settings.s3.accessKeyId]).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
      }
    }
    expect(() => readCompose({})).toThrow(/run sh deploy\/make-env\.sh/);
  });

  test('reaches PostgreSQL and the object store when their lines are switched on', () => {
    const isOfOthers = (line: string) => /your-bucket|S3_REGION|WEBHOOK/.test(line);
    const on = parseEnv(switchOn(written, (line) => !isOfOthers(line)));
    const filled = readCompose(on).services;
    expect(on['COMPOSE_PROFILES']?.split(',').sort()).toEqual(['postgres', 's3']);
    for (const name of ['api', 'worker']) {
      const { databaseUrl = '', staging, s3 } = loadSettings(filled[name]?.environment ?? {}, '/');
      const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = filled['database']?.environment ?? {};
      expect(databaseUrl).toBe(
        `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@database:5432/${POSTGRES_DB}`,
      );
      const { RUSTFS_ACCESS_KEY, RUSTFS_SECRET_KEY } = filled['object-store']?.environment ?? {};
      expect(s3).toMatchObject({
        endpoint: filled['bucket']?.environment['AWS_ENDPOINT_URL_S3'],
        accessKeyId: RUSTFS_ACCESS_KEY,
        secretAccessKey: RUSTFS_SECRET_KEY,
      });
      expect(staging).toBe('s3://backhaul/staging');
      expect(filled['bucket']?.command?.join('')).toContain("Bucket = 'backhaul'");
    }
  });

  test('uses a bucket at AWS without keys, with the role of the machine', () => {
    const on = parseEnv(switchOn(written, (line) => /your-bucket|S3_REGION/.test(line)));
    const { staging, s3 } = loadSettings(readCompose(on).services['worker']?.environment ?? {}, '/');
    expect([staging, s3]).toEqual(['s3://your-bucket/backhaul', { region: 'eu-central-1' }]);
  });

  test('tells a webhook from the API and from workers', () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const on = {
      ...variables,
      BACKHAUL_WEBHOOK_URL: 'https://hooks.example.com/',
      BACKHAUL_WEBHOOK_SECRET: secret,
    };
    for (const name of ['api', 'worker']) {
      const { webhook } = loadSettings(readCompose(on).services[name]?.environment ?? {}, '/');
      expect(webhook).toEqual({
        url: 'https://hooks.example.com/',
        secret,
        allowPrivate: false,
      });
      expect(loadSettings(readCompose(variables).services[name]?.environment ?? {}, '/').webhook.url).toBe(
        undefined,
      );
    }
  });

  test('documents every variable of docker-compose.yml, and no other', () => {
    const documented = [...example.matchAll(/^#?([A-Z]\w*)=/gm)].map(([, name]) => name ?? '');
    const compose = ['COMPOSE_PROFILES']; // read by Compose itself
    expect(new Set(documented)).toEqual(new Set([...listVariables(text), ...compose]));
  });

  test('the object store does not start without keys of its own', () => {
    const { entrypoint = [] } = readCompose(variables).services['object-store'] ?? {};
    const [shell = '', flag = '', script = ''] = entrypoint;
    const start = (env: Record<string, string>) =>
      execFileSync(shell, [flag, script.replace('exec /entrypoint.sh', 'echo starts')], {
        env,
        stdio: 'pipe',
      });
    expect(() => start({ RUSTFS_ACCESS_KEY: 'a', RUSTFS_SECRET_KEY: '' })).toThrow(/OBJECT_STORE_SECRET_KEY/);
    expect(String(start({ RUSTFS_ACCESS_KEY: 'a', RUSTFS_SECRET_KEY: 'b' }))).toBe('starts /data\n');
  });
});

test('every service that another one waits for has a health check, and volumes are declared', () => {
  const waitedFor = named.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
  expect(waitedFor).toContain('queue');
  for (const name of waitedFor) if (name !== 'bucket') expect(services[name]?.healthcheck).toBeDefined();
  const healthy = named.filter(([, { restart }]) => restart !== 'no');
  for (const [name, { healthcheck }] of healthy) expect(healthcheck, name).toBeDefined();
  for (const mount of named.flatMap(([, { volumes: mounts = [] }]) => mounts)) {
    const source = mount.split(':')[0] ?? '';
    if (source.startsWith('.')) expect(['./exports', './deploy/rehearsal']).toContain(source);
    else expect(Object.keys(volumes)).toContain(source);
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

test('the object store and the database start only with their profile, and are waited for only then', () => {
  const asked = named.filter(([, { profiles }]) => profiles !== undefined).map(([name]) => name);
  expect(asked.sort()).toEqual(['bucket', 'database', 'object-store']);
  for (const name of ['api', 'worker'])
    for (const [other, { required }] of Object.entries(services[name]?.depends_on ?? {}))
      expect([other, required]).toEqual([other, asked.includes(other) ? false : undefined]);
});

test('the variables given to Backhaul are settings of Backhaul', () => {
  const known = new Set(listSettingFields().map(({ env }) => env));
  const given = ['api', 'worker'].flatMap((name) => Object.keys(services[name]?.environment ?? {}));
  expect(given.length).toBeGreaterThan(10);
  expect(given.filter((name) => !known.has(name))).toEqual([]);
});

test('the image installs from the lock file and has the folders of the package', () => {
  const [build = '', image = ''] = readText('Dockerfile')
    .split(/^FROM .*$/m)
    .slice(1);
  for (const stage of [build, image]) {
    expect(stage).toContain('COPY package.json package-lock.json ./');
    expect(stage).toMatch(/npm ci /);
    expect(stage).not.toMatch(/npm (install|i) /);
  }
  const { bin, files } = z
    .object({
      bin: z.object({ backhaul: z.string() }),
      files: z.array(z.string()),
    })
    .parse(JSON.parse(readText('package.json')));
  const copied = [...image.matchAll(/^COPY (?:--from=build )?(\S+) (\S+)$/gm)].map(([, , target]) => target);
  const folders = files.filter((pattern) => !pattern.startsWith('!'));
  expect(folders.filter((folder) => !copied.some((target) => `${folder}/`.startsWith(`${target}/`)))).toEqual(
    [],
  );
  expect(image).toContain(`ENTRYPOINT ["node", "/app/${bin.backhaul}"]`);

  const allowed = [...readText('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path]) => path);
  const sources = [...build.matchAll(/^COPY ((?:\S+ )+)\S+$/gm)].flatMap(([, list]) =>
    (list ?? '').trim().split(' '),
  );
  expect(sources.length).toBeGreaterThan(4);
  expect(sources.filter((source) => !allowed.includes(source))).toEqual([]);
});
