import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryDatabase } from '../../support/databases.ts';
import { type ListeningApi, listenApi } from '../../support/listening-api.ts';
import { event } from './hostile-bodies.ts';

const head = 'POST /batch/ HTTP/1.1\r\nHost: x\r\n';

/** Everything the server says to these bytes until it hangs up. What drips comes again and again. */
async function converse(
  target: ListeningApi,
  bytes: string,
  then: 'wait' | 'the end' | { drip: string } = 'wait',
): Promise<string> {
  const socket = connect(target.port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1');
  });
  socket.on('error', () => undefined); // the server may hang up while we write
  socket.write(bytes, 'latin1');
  if (then === 'the end') socket.end();
  const dripping = typeof then === 'object' ? setInterval(() => socket.write(then.drip), 20) : undefined;
  await once(socket, 'close');
  clearInterval(dripping);
  return said;
}

onEveryDatabase('connections', (db) => {
  let hasty: ListeningApi;
  beforeAll(async () => {
    hasty = await listenApi(db(), 1000);
  });
  afterAll(() => hasty.close());

  const isWell = async () => {
    const body = event(hasty.project.projectKey, 'well', '{}');
    return (await fetch(`${hasty.url}/e/`, { method: 'POST', body })).status;
  };

  test.each([
    ['headers', head, { drip: 'X-Slow: 1\r\n' }],
    ['a body', `${head}Content-Length: 1000000\r\n\r\n`, { drip: ' ' }],
    ['chunks', `${head}Transfer-Encoding: chunked\r\n\r\n`, { drip: '1\r\n \r\n' }],
    ['nothing', `${head}Content-Length: 10\r\n\r\n`, 'wait' as const],
  ])('that trickle %s are cut off', async (_name, bytes, then) => {
    expect(await converse(hasty, bytes, then)).toMatch(/^HTTP\/1\.1 408 /);
    expect(await isWell()).toBe(200);
  });

  test.each([
    ['a Content-Length beyond any number', 400, 'Content-Length: 99999999999999999999999\r\n\r\n{}'],
    ['a Content-Length of petabytes', 413, 'Content-Length: 9007199254740991\r\n\r\n{}'],
    ['a negative Content-Length', 400, 'Content-Length: -1\r\n\r\n{}'],
    ['a Content-Length in words', 400, 'Content-Length: ten\r\n\r\n{}'],
    ['two ways to end', 400, 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk of no size', 400, 'Transfer-Encoding: chunked\r\n\r\nZZ\r\n'],
    ['headers of 100 kB', 431, `X-Long: ${'a'.repeat(100_000)}\r\n\r\n`],
    ['a body longer than it said', 400, 'Content-Length: 2\r\n\r\n{}junk\r\n\r\n'],
  ])('with %s get %i', async (_name, status, rest) => {
    expect(await converse(hasty, head + rest)).toContain(`HTTP/1.1 ${status} `);
    expect(await isWell()).toBe(200);
  });

  test('that end in the middle of a body store nothing', async () => {
    const body = event(hasty.project.projectKey, 'half', '{}');
    const said = await converse(hasty, `${head}Content-Length: ${body.length + 1}\r\n\r\n${body}`, 'the end');
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    const rows = await db().query("select 1 from events where distinct_id = 'half'");
    expect(rows).toEqual([]);
    expect(await isWell()).toBe(200);
  });
});
