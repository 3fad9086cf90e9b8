import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killAllBackhaul, runBackhaul, startBackhaul, waitForServices } from '../support/backhaul-process.ts';
import { readyDataDir } from '../support/ready-data-dir.ts';

let dataDir: string;
let url: string;
const backhaul = (...args: string[]) => runBackhaul(args, { dataDir });

/** What a command that must succeed prints. */
async function printed(...args: string[]): Promise<string> {
  const ended = await backhaul(...args);
  expect(ended.code, ended.stderr).toBe(0);
  return ended.stdout.trimEnd();
}
const told = async (...args: string[]) => JSON.parse(await printed(...args, '--json'));

const get = async (path: string, key: string) =>
  (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).status;

beforeAll(async () => {
  dataDir = await readyDataDir(await mkdtemp(join(tmpdir(), 'backhaul-manage-')));
  const server = startBackhaul(['serve'], { dataDir });
  url = (await waitForServices(dataDir, server)).api?.url ?? '';
}, 300_000);
afterAll(async () => {
  await killAllBackhaul();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
});

describe('managing the bundled API', () => {
  it('prints a new key on stdout, alone, and says on stderr that it is shown once', async () => {
    const ended = await backhaul(
      'keys',
      'create',
      '--label',
      'report',
      '--scope',
      'person:read',
      'cohort:read',
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(/^phx_[0-9A-Za-z]{40,43}\n$/);
    expect(ended.stderr).toContain('shown only this once');
    const key = ended.stdout.trim();
    expect(await get('/api/projects/@current/persons/', key)).toBe(200);
    expect(await get('/api/projects/@current/event_counts/', key)).toBe(403);
  }, 120_000);

  it('makes keys for other users and single projects, lists them, and revokes them at once', async () => {
    const user = await told('users', 'add', 'ada@example.com', '--name', 'Ada King Lovelace');
    expect(user).toMatchObject({
      first_name: 'Ada',
      last_name: 'King Lovelace',
      organizations: [{ level: 1 }],
    });
    const projectKey = await printed('projects', 'add', 'Shop');
    const shop = (await told('projects', 'list')).find(({ name }: { name: string }) => name === 'Shop');
    expect(projectKey).toBe(shop.api_token);

    const made = await told(
      ...['keys', 'create', '--label', 'shop', '--scope', 'person:read', '--user', 'ada@example.com'],
      ...['--project', String(shop.id)],
    );
    expect(made).toMatchObject({ user: { email: 'ada@example.com' }, projects: [shop.id] });
    expect(await get(`/api/projects/${shop.id}/persons/`, made.value)).toBe(200);
    expect(await get('/api/projects/1/persons/', made.value)).toBe(403);

    const listed = await printed('keys', 'ls');
    expect(listed).toMatch(new RegExp(`shop +${made.id} +ada@example.com +person:read +${shop.id} `));
    expect(listed).not.toContain(made.value.slice(4));

    expect(await printed('keys', 'revoke', String(made.id))).toBe(`Key ${made.id} is revoked.`);
    expect(await get(`/api/projects/${shop.id}/persons/`, made.value)).toBe(401);
    expect(await printed('keys', 'list')).toMatch(/shop.* revoked \d{4}-/);
    expect(await printed('users', 'ls')).toMatch(/ada@example.com +\d+ +Ada King Lovelace +member/);
  }, 240_000);

  it('removes users, renames projects and replaces their keys', async () => {
    await printed('users', 'add', 'bob@example.com', '--name', 'Bob');
    expect(await printed('users', 'remove', 'Bob@example.com')).toContain('is removed');
    expect(await printed('users', 'ls')).not.toContain('bob@example.com');
    const old = await printed('projects', 'add', 'Store');
    const list = await told('projects', 'list');
    const { id } = list.find(({ name }: { name: string }) => name === 'Store');
    expect(await printed('projects', 'rename', String(id), 'Stores')).toBe(`Project ${id} is called Stores.`);
    const replaced = await printed('projects', 'rotate-key', String(id));
    expect(replaced).toMatch(/^phc_/);
    expect(replaced).not.toBe(old);
    expect(await printed('projects', 'ls')).toMatch(new RegExp(`Stores +${id} +${replaced}`));
  }, 240_000);

  it('runs migrations of containers that share its data folder, and own none', async () => {
    // What `docker compose run worker run` meets: the lock of another container, the keys, a Redis, an address.
    const services = JSON.parse(await readFile(join(dataDir, 'services.json'), 'utf8'));
    const shared = join(dataDir, 'of-another-container');
    await mkdir(shared);
    await copyFile(join(dataDir, 'keys.json'), join(shared, 'keys.json'));
    const lock = { kind: 'owned', owner: { pid: 1, started: 'then', host: `not-${hostname()}` } };
    await writeFile(join(shared, 'owner.1.lock'), JSON.stringify(lock));
    await writeFile(
      join(shared, 'rows.jsonl'),
      '{"who":"zoe","what":"Bought","when":"2021-01-01T00:00:00Z"}\n',
    );
    const manifest = {
      name: 'rehearsal',
      source: {
        type: 'jsonl',
        from: 'rows.jsonl',
        mapping: {
          distinctId: { column: 'who' },
          event: { column: 'what' },
          timestamp: { column: 'when' },
        },
      },
    };
    await writeFile(join(shared, 'rehearsal.json'), JSON.stringify(manifest));
    const run = (env: Record<string, string>) =>
      runBackhaul(['run', '--json', join(shared, 'rehearsal.json')], { dataDir: shared, env });

    const refused = await run({ REDIS_URL: services.redisUrl });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('another container');
    const ended = await run({ REDIS_URL: services.redisUrl, BACKHAUL_API_URL: services.api.url });
    expect(ended.code, ended.stderr).toBe(0);
    const found = await fetch(`${url}/api/projects/@current/events/?distinct_id=zoe&event=Bought`, {
      headers: { authorization: `Bearer ${services.api.personalKey}` },
    });
    expect(await found.json()).toMatchObject({ results: [{ event: 'Bought', distinct_id: 'zoe' }] });
    expect((await readdir(shared)).filter((name) => name.endsWith('.lock'))).toEqual(['owner.1.lock']);
  }, 240_000);

  it('does not revoke the key that it works with', async () => {
    const [own] = await told('keys', 'list');
    const ended = await backhaul('keys', 'revoke', String(own.id));
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('is the personalKey of keys.json');
    expect(await told('keys', 'list')).toContainEqual(
      expect.objectContaining({ id: own.id, revoked_at: null }),
    );
  }, 120_000);

  it.each([
    [['keys', 'create', '--label', 'x'], "required option '--scope <scope...>' not specified"],
    [['keys', 'create', '--label', 'x', '--scope', 'persons:read'], 'did you mean "person:read"?'],
    [['keys', 'create', '--label', '', '--scope', '*'], 'label: This field may not be blank.'],
    [['keys', 'create', '--label', 'x', '--scope', '*', '--project', 'shop'], '--project takes a number'],
    [
      ['keys', 'create', '--label', 'x', '--scope', '*', '--user', 'no@example.com'],
      'There is no user "no@example.com"',
    ],
    [['keys', 'revoke', '4711'], 'there is no key 4711'],
    [['users', 'remove', 'no@example.com'], 'There is no user "no@example.com"'],
    [['projects', 'rotate-key', '1'], 'This is the key of keys.json'],
    [['users', 'add', 'nobody', '--name', 'No Body'], 'Enter a valid email address.'],
    [
      ['users', 'add', 'b@example.com', '--name', 'B', '--level', 'boss'],
      '--level takes member, admin, owner',
    ],
  ])(
    'ends %j with 2 and says why on stderr',
    async (args, message) => {
      const ended = await backhaul(...args);
      expect(ended.code, ended.stderr).toBe(2);
      expect(ended.stderr).toContain(message);
      expect(ended.stdout).toBe('');
    },
    60_000,
  );

  it('starts the API itself where none runs, and says so when its own key is refused', async () => {
    const [own] = await told('keys', 'list');
    const second = await printed('keys', 'create', '--label', 'successor', '--scope', '*');
    const path = join(dataDir, 'keys.json');
    const kept = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...kept, personalKey: second }));
    await killAllBackhaul();
    expect(await printed('keys', 'revoke', String(own.id))).toContain('is revoked');
    await writeFile(path, JSON.stringify(kept));
    const ended = await backhaul('keys', 'list');
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('refuses the personalKey of keys.json');
  }, 300_000);

  it('limits requests of a key and links to its public address where the settings say so', async () => {
    const limited = await readyDataDir(join(dataDir, 'limited'));
    const env = {
      BACKHAUL_API_REQUESTS_PER_MINUTE: '2',
      BACKHAUL_PUBLIC_URL: 'https://events.example.com/backhaul/',
    };
    const server = startBackhaul(['serve'], { dataDir: limited, env });
    const { api } = await waitForServices(limited, server);
    const ask = () =>
      fetch(`${api?.url}/api/users/?limit=1&offset=1`, {
        headers: { authorization: `Bearer ${api?.personalKey}` },
      });
    expect(await (await ask()).json()).toMatchObject({
      previous: 'https://events.example.com/backhaul/api/users/?limit=1&offset=0',
    });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
  }, 120_000);
});
