import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectSecrets, loadSettings } from '../../config/load-settings.ts';
import { ConfigError } from '../../src/lib/errors.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-settings-'));
});
afterAll(() => rm(folder, { recursive: true }));

function mistakesOf(env: Record<string, string>): string {
  try {
    loadSettings(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the settings were taken');
}

describe('loadSettings', () => {
  test('runs everything embedded when nothing is set', () => {
    expect(loadSettings({}, '/home/ada')).toEqual({
      dataDir: '/home/ada/.backhaul',
      s3: {},
      webhook: { allowPrivate: false },
      logLevel: 'info',
      host: '127.0.0.1',
      port: 0,
      workerConcurrency: 2,
      queues: { user: 'backhaul' },
      deletionSchedule: '0 5 * * 0',
      noColor: false,
    });
  });

  test.each(['BACKHAUL_S3_ENDPOINT', 'BACKHAUL_API_URL', 'BACKHAUL_PUBLIC_URL'])(
    'takes no user name and password in %s, which messages show, and shows none',
    (name) => {
      const message = mistakesOf({ [name]: 'http://ada:hush@storage.example.com:9000' });
      expect(message).toContain(
        `${name} is "http://***@storage.example.com:9000": it takes an address without`,
      );
      expect(message).not.toMatch(/ada|hush/);
    },
  );

  test('reads every setting from its variable', () => {
    const settings = loadSettings({
      BACKHAUL_DATA_DIR: '/data',
      REDIS_URL: 'redis://queue:6379/1',
      DATABASE_URL: 'postgres://db/backhaul',
      BACKHAUL_STAGING: 's3://bucket/a/b',
      BACKHAUL_S3_ENDPOINT: 'http://127.0.0.1:9000',
      BACKHAUL_S3_REGION: 'eu-central-1',
      BACKHAUL_S3_ACCESS_KEY_ID: 'id',
      BACKHAUL_S3_SECRET_ACCESS_KEY: 'secret',
      BACKHAUL_S3_PATH_STYLE: 'no',
      BACKHAUL_LOG_LEVEL: 'warn',
      BACKHAUL_HOST: '0.0.0.0',
      BACKHAUL_PORT: '65535',
      BACKHAUL_WORKER_CONCURRENCY: '64',
      BACKHAUL_QUEUES_PASSWORD: 'look',
      BACKHAUL_QUEUES_ADMIN_PASSWORD: 'touch',
      BACKHAUL_DELETION_SCHEDULE: '30 4 * * *',
      BACKHAUL_SEED: '/seeds/shop.yaml',
      NO_COLOR: '1',
    });
    expect(settings).toMatchObject({
      dataDir: '/data',
      redisUrl: 'redis://queue:6379/1',
      databaseUrl: 'postgres://db/backhaul',
      staging: 's3://bucket/a/b',
      s3: { region: 'eu-central-1', accessKeyId: 'id', secretAccessKey: 'secret', forcePathStyle: false },
      logLevel: 'warn',
      port: 65_535,
      workerConcurrency: 64,
      queues: { user: 'backhaul', password: 'look', adminPassword: 'touch' },
      deletionSchedule: '30 4 * * *',
      seedFile: '/seeds/shop.yaml',
      noColor: true,
    });
  });

  test('takes paths from the current folder on', () => {
    expect(
      loadSettings({ BACKHAUL_DATA_DIR: 'data', BACKHAUL_SEED: 'seeds/shop.yaml' }, '/home/ada'),
    ).toMatchObject({
      dataDir: '/home/ada/data',
      seedFile: '/home/ada/seeds/shop.yaml',
    });
  });

  test('takes an empty variable for none, as compose files leave them', () => {
    expect(loadSettings({ BACKHAUL_PORT: '', REDIS_URL: '', NO_COLOR: '' })).toEqual(loadSettings({}));
  });

  test('names every mistake at once, and shows no secret', () => {
    const message = mistakesOf({
      BACKHAUL_PORT: '65536',
      BACKHAUL_LOG_LEVEL: 'loud',
      BACKHAUL_S3_PATH_STYLE: 'maybe',
      BACKHAUL_STAGING: 's3://bucket/../other',
      REDIS_URL: 'hunter2',
      BACKHAUL_DATADIR: '/data',
    });
    expect(message).toContain('6 settings are wrong');
    expect(message).toContain('BACKHAUL_PORT is "65536": it takes a whole number from 0 to 65535');
    expect(message).toContain('BACKHAUL_LOG_LEVEL is "loud": it takes one of trace, debug');
    expect(message).toContain('BACKHAUL_S3_PATH_STYLE is "maybe": it takes true or false');
    expect(message).toContain('BACKHAUL_STAGING is "s3://bucket/../other": it takes s3://bucket');
    expect(message).toContain('REDIS_URL has a value that is not shown here: it takes an address');
    expect(message).toContain(
      'BACKHAUL_DATADIR is not a setting of Backhaul; did you mean BACKHAUL_DATA_DIR?',
    );
    expect(message).not.toContain('hunter2');
  });

  test.each(['80a', '-1', '1e3', '0x10', ' 80'])('refuses %j as a port', (port) => {
    expect(mistakesOf({ BACKHAUL_PORT: port })).toContain('BACKHAUL_PORT');
  });

  test.each(['weekly', '0 5 * * 8', '0 0 30 2 *'])('refuses %j as a schedule', (schedule) => {
    expect(mistakesOf({ BACKHAUL_DELETION_SCHEDULE: schedule })).toContain(
      `BACKHAUL_DELETION_SCHEDULE is "${schedule}": it takes the five fields of cron`,
    );
  });

  test('suggests nothing where no setting is near', () => {
    expect(mistakesOf({ BACKHAUL_XYZZY: '1' })).toContain('must not start with BACKHAUL_');
  });

  test('wants both S3 keys or none, and two different passwords', () => {
    expect(mistakesOf({ BACKHAUL_S3_ACCESS_KEY_ID: 'id' })).toContain('must be set together');
    expect(mistakesOf({ BACKHAUL_WEBHOOK_URL: 'https://hooks.example.com' })).toContain(
      'must be set together',
    );
    expect(
      mistakesOf({ BACKHAUL_QUEUES_PASSWORD: 'same', BACKHAUL_QUEUES_ADMIN_PASSWORD: 'same' }),
    ).toContain('must differ');
  });

  test('passes over what Kubernetes sets for services named backhaul', () => {
    const links = {
      BACKHAUL_SERVICE_HOST: '10.0.0.1',
      BACKHAUL_SERVICE_PORT_HTTP: '80',
      BACKHAUL_PORT: 'tcp://10.0.0.1:80',
      BACKHAUL_PORT_80_TCP_ADDR: '10.0.0.1',
      BACKHAUL_API_PORT: 'tcp://10.0.0.2:80',
    };
    expect(loadSettings(links)).toEqual(loadSettings({}));
  });

  test('reads a secret from the file that its _FILE twin names, without the final newline', async () => {
    const path = join(folder, 'database-url');
    await writeFile(path, 'postgres://ada:p%40ss@db/backhaul\n');
    const settings = loadSettings({ DATABASE_URL_FILE: path });
    expect(settings.databaseUrl).toBe('postgres://ada:p%40ss@db/backhaul');
    expect(collectSecrets(settings)).toEqual(['postgres://ada:p%40ss@db/backhaul', 'p%40ss', 'p@ss']);
  });

  test('prefers the value to the file', () => {
    expect(loadSettings({ REDIS_URL: 'redis://a', REDIS_URL_FILE: '/nowhere' }).redisUrl).toBe('redis://a');
  });

  test('says which file of a secret cannot be read, or is empty', async () => {
    const path = join(folder, 'empty');
    await writeFile(path, '\n');
    const message = mistakesOf({ REDIS_URL_FILE: join(folder, 'gone'), DATABASE_URL_FILE: path });
    expect(message).toContain('REDIS_URL_FILE names a file that cannot be read');
    expect(message).toContain(`DATABASE_URL_FILE names ${path}, which is empty`);
  });

  test('has no _FILE twin for what is no secret', () => {
    expect(mistakesOf({ BACKHAUL_HOST_FILE: '/x' })).toContain('BACKHAUL_HOST_FILE is not a setting');
  });

  test('takes a secret of webhooks of 24 to 64 bytes, and shows neither it nor the address', () => {
    const take = (bytes: number) => {
      const secret = `whsec_${Buffer.alloc(bytes, 'k').toString('base64')}`;
      return { BACKHAUL_WEBHOOK_URL: 'https://hooks.example.com/T0P', BACKHAUL_WEBHOOK_SECRET: secret };
    };
    for (const bytes of [24, 64]) {
      const settings = loadSettings(take(bytes));
      expect(settings.webhook.allowPrivate).toBe(false);
      expect(collectSecrets(settings)).toEqual(Object.values(take(bytes)));
    }
    for (const bytes of [23, 65]) expect(mistakesOf(take(bytes))).toContain('24 to 64 bytes');
    expect(mistakesOf(take(23))).not.toContain(take(23).BACKHAUL_WEBHOOK_SECRET);
    expect(mistakesOf({ ...take(24), BACKHAUL_WEBHOOK_URL: 'ftp://T0P' })).not.toContain('T0P');
  });
});
