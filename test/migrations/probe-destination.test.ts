import type { RequestListener } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { probeDestination } from '../../src/migrations/probe-destination.ts';
import { startResponder } from '../support/answering.ts';

const API_KEY = 'phc_a_project_key';
const toStop: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop();
});

async function answering(listener: RequestListener): Promise<string> {
  const { url, stop } = await startResponder(listener);
  toStop.push(stop);
  return url;
}

const saying = (status: number, body = '', headers = {}): Promise<string> =>
  answering((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });

describe('a look at the destination', () => {
  it('sends an empty batch in the form of the contract', async () => {
    let seen: unknown;
    const url = await answering(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      seen = [request.url, JSON.parse(gunzipSync(Buffer.concat(pieces)).toString())];
      response.end('{"status":1}');
    });
    expect(await probeDestination(`${url}/base/`, API_KEY)).toBe(`${url}/base/batch/ answers (200)`);
    expect(seen).toEqual(['/base/batch/', { api_key: API_KEY, historical_migration: true, batch: [] }]);
  });

  it('takes the refusal of an empty batch for an answer', async () => {
    const url = await saying(400, '{"detail":"The batch is empty."}');
    expect(await probeDestination(url, API_KEY)).toContain('takes no empty batch');
  });

  it.each([
    [
      'a page',
      200,
      '<html>Sign in</html>',
      /not with a response of event ingestion \("Sign in"\).*check dest/,
    ],
    ['a reported failure', 200, '{"status":0,"error":"queue down"}', /"queue down"/],
    ['a redirect', 301, '', /redirects to https:\/\/elsewhere\.example.*set destination\.url/],
    [
      'a wrong key',
      401,
      '{"detail":"API key invalid: phc_a_project_key"}',
      /\*\*\*.*Check destination\.apiKey/,
    ],
    ['no such method', 405, '', /HTTP 405.*give the address in front of \/batch\//],
    ['another refusal', 400, 'Bad Request', /HTTP 400: Bad Request.*check destination\.url/],
    ['too large', 413, '', /too large \(HTTP 413/],
    ['too many requests', 429, '', /is there, but busy \(HTTP 429\)/],
    ['an outage', 503, 'no backend', /is there, but down \(HTTP 503: no backend\)/],
  ])('names the address, the answer and what to do: %s', async (_name, status, body, message) => {
    const url = await saying(status, body, { location: 'https://elsewhere.example/' });
    const failure = await probeDestination(url, API_KEY).catch((error: unknown) => String(error));
    expect(failure).toContain(`${url}/batch/`);
    expect(failure).toMatch(message);
    expect(failure).not.toContain(API_KEY);
  });

  it('refuses an answer that is cut off, and names the address of a closed socket', async () => {
    const cut = await answering((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-length': '100' }).write('{"sta');
        setImmediate(() => response.destroy());
      });
    });
    await expect(probeDestination(cut, API_KEY)).rejects.toThrow(`${cut}/batch/ cannot be reached or does`);
    const closed = await saying(200);
    await toStop.pop()?.();
    await expect(probeDestination(closed, API_KEY)).rejects.toThrow(/batch\/ cannot .*ECONNREFUSED/);
  });
});
