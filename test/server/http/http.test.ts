import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningApi, startApi } from '../../../src/server/server.ts';

const bootstrap = { projectKey: 'phc_sendsEvents', personalKey: 'phx_opensAll' };

describe('the API over HTTP', () => {
  let dataDir: string;
  let api: RunningApi;
  const logged: string[] = [];
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'backhaul-http-'));
    const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) });
    api = await startApi({ dataDir, port: 0, log, bootstrap });
  }, 120_000);
  afterAll(async () => {
    await api.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** What the server says to a request written by hand, until it closes the connection. */
  function say(requestLine: string, headers: Record<string, string> = {}): Promise<string> {
    const all = {
      host: 'api.test',
      authorization: `Bearer ${bootstrap.personalKey}`,
      connection: 'close',
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return new Promise((resolve, reject) => {
      let said = '';
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
      socket.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      socket.once('error', reject).once('close', () => resolve(said));
      socket.write(`${requestLine} HTTP/1.1\r\n${lines.join('')}\r\n`);
    });
  }
  const statusOf = (said: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1]);

  test.each<[string, number]>([
    ['GET /api/projects/', 200],
    ['GET /api/projects', 200],
    ['HEAD /api/projects/', 200],
    ['GET /api/x/../projects/', 200],
    ['GET /api/projects/%31/', 200],
    ['GET /api/projects/%40current/', 200],
    ['GET /api/users/%40me/', 200],
    ['GET //api/projects/', 404],
    ['GET /api//projects/', 404],
    ['GET /api%2Fprojects/', 404],
    ['GET /api/projects/1/persons.csv/', 200],
    ['GET /api/projects/1/persons/?search=%00', 400],
    ['GET /API/projects/', 404],
    ['GET /api/projects/1%2Fpersons/', 404],
    ['GET /api/projects/..%2F..%2Fhealthz', 404],
    ['GET /api/projects/%', 404],
    ['GET /api/nothing/', 404],
    ['GET /api/', 404],
    ['GET /', 404],
    ['OPTIONS /api/projects/', 405],
    ['TRACE /api/projects/', 405],
    ['PUT /api/projects/', 405],
    ['QUERY /api/projects/', 405],
    ['GET /api\\projects/', 400],
  ])('answers %s with %i', async (requestLine, status) => {
    const said = await say(requestLine);
    expect(statusOf(said)).toBe(status);
  });

  test('says which methods a path knows, and nothing of them to pages of other sites', async () => {
    const said = await say('OPTIONS /api/projects/', {
      origin: 'https://evil.example',
      'access-control-request-method': 'GET',
    });
    expect(said).toMatch(/^allow: GET, POST\r$/im);
    expect(said).toContain('"detail":"Method \\"OPTIONS\\" not allowed."');
    const answers = [said, await say('GET /api/projects/', { origin: 'https://evil.example' })];
    for (const each of answers) expect(each.toLowerCase()).not.toContain('access-control-');
  });

  test('answers are of the type they say, and no cache keeps what a key opens', async () => {
    for (const line of ['GET /api/projects/', 'GET /api/projects/9/', 'POST /api/users/', 'GET /api/x/']) {
      const said = await say(line);
      expect(said).toMatch(/^x-content-type-options: nosniff\r$/im);
      expect(said).toMatch(/^cache-control: no-store\r$/im);
      expect(said).toMatch(/^referrer-policy: no-referrer\r$/im);
    }
    expect(await say('GET /healthz')).toMatch(/^x-content-type-options: nosniff\r$/im);
  });

  test('links lead to the host that was asked, whatever a header says that a client may write', async () => {
    await say('POST /api/projects/', { 'content-length': '0' });
    const said = await say('GET /api/personal_api_keys/?limit=1&offset=1', {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
      forwarded: 'host=evil.example',
    });
    expect(said).toContain('"previous":"http://api.test/api/personal_api_keys/?limit=1&offset=0"');
    expect(said).not.toContain('evil');
  });

  test.each(['evil.example/x', 'evil.example?', 'user@evil.example', 'a b'])(
    'refuses the host %j',
    async (host) => {
      expect(statusOf(await say('GET /api/projects/', { host }))).toBe(400);
    },
  );

  test('takes addresses of 60,000 characters; what is no request is answered too', async () => {
    expect(statusOf(await say(`GET /api/projects/?x=${'y'.repeat(60_000)}`))).toBe(200);
    const tooLong = await say(`GET /api/projects/?x=${'y'.repeat(70_000)}`);
    expect(statusOf(tooLong)).toBe(431);
    expect(tooLong).toContain('"detail":"Address and headers of a request hold 64 KiB at most."');
    const broken = await say('GET /api/projects/', { 'content-length': 'x' });
    expect(statusOf(broken)).toBe(400);
    expect(broken).toContain('"code":"bad_request"');
  });

  test('two keys in two headers are none', async () => {
    const twice = { Authorization: `Bearer ${bootstrap.personalKey}` };
    expect(statusOf(await say('GET /api/projects/', twice))).toBe(401);
  });

  test('no key stands in the log, wherever it was given and whatever went wrong', async () => {
    const { personalKey, projectKey } = bootstrap;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${personalKey}` };
    const post = (path: string, body: string) =>
      fetch(`${api.url}${path}`, { method: 'POST', headers, body });
    await fetch(`${api.url}/api/projects/?personal_api_key=${personalKey}`);
    await fetch(`${api.url}/api/projects/?personal_api_key=${personalKey}x`);
    await fetch(`${api.url}/api/projects/1/persons/?distinct_id=%00&personal_api_key=${personalKey}`);
    const made = await post('/api/personal_api_keys/', JSON.stringify({ label: 'a', scopes: ['*'] }));
    const { value } = (await made.json()) as { value: string };
    await post(
      '/api/users/',
      JSON.stringify({ email: 'a@example.com', first_name: 'A', personal_api_key: value }),
    );
    await post('/api/users/', JSON.stringify({ email: 'a@example.com', first_name: 'A' }));
    await post('/capture/', JSON.stringify({ api_key: personalKey, event: 'e', distinct_id: 'd' }));
    await post('/capture/', JSON.stringify({ api_key: projectKey, event: 'e', distinct_id: 'd' }));
    const text = logged.join('');
    expect(text).toContain('personal key made');
    for (const key of [personalKey, projectKey, value]) expect(text).not.toContain(key.slice(4));
  });
});
