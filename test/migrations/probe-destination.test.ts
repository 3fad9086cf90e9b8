import type { RequestListener } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { probeDestination, sendProbe } from '../../src/migrations/probe-destination.ts';
import { startResponder } from '../support/answering.ts';
import { startStrictDestination } from '../support/strict-destination.ts';

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

const to = (url: string) => ({ url, apiKey: API_KEY });

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
    expect(await probeDestination(to(`${url}/base/`))).toBe(`${url}/base/batch/ answers (200)`);
    expect(seen).toEqual(['/base/batch/', { api_key: API_KEY, historical_migration: true, batch: [] }]);
  });

  it('takes the refusal of an empty batch for an answer', async () => {
    const url = await saying(400, '{"detail":"The batch is empty."}');
    expect(await probeDestination(to(url))).toContain('takes no empty batch');
  });

  it.each([
    [
      'a page',
      200,
      '<html>Sign in</html>',
      /not with a response of event ingestion \("Sign in"\).*check dest/,
    ],
    ['a reported failure', 200, '{"status":0,"error":"queue down"}', /"queue down".*--send-probe/],
    ['nothing', 200, '', /HTTP 200 and an empty body.*--send-probe/],
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
    const failure = await probeDestination(to(url)).catch((error: unknown) => String(error));
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
    await expect(probeDestination(to(cut))).rejects.toThrow(`${cut}/batch/ cannot be reached or does`);
    const closed = await saying(200);
    await toStop.pop()?.();
    await expect(probeDestination(to(closed))).rejects.toThrow(/batch\/ cannot .*ECONNREFUSED/);
  });
});

describe('a probe of the destination', () => {
  const NOW = new Date('2026-01-02T03:04:05.678Z');

  it('is one named event that the strict destination takes, and says that its answer counts', async () => {
    const destination = await startStrictDestination({ apiKey: API_KEY });
    toStop.push(destination.stop);
    const found = await sendProbe(to(destination.url), NOW);
    const [event, ...others] = destination.events().values();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      event: 'backhaul probe',
      distinctId: 'backhaul-probe',
      timestamp: '2026-01-02T03:04:05.678Z',
    });
    expect(found).toContain(`(${event?.uuid}) with HTTP 200 and the body {"status":1}`);
    expect(found).toContain('counts this as accepted');
  });

  it.each([
    ['an empty body', 200, '', /HTTP 200 and an empty body.*does not count.*destination\.acceptance/],
    ['the key in its words', 200, `{"got":"${API_KEY}"}`, /the body \{"got":"\*\*\*"\}/],
    ['a refusal', 400, 'no', /HTTP 400 and the body no; a run does not count/],
  ])('shows an answer that does not count: %s', async (_name, status, body, message) => {
    await expect(sendProbe(to(await saying(status, body)), NOW)).rejects.toThrow(message);
  });

  it('counts what the manifest declares', async () => {
    const declared = { ...to(await saying(204)), acceptance: { status: 204 } };
    expect(await sendProbe(declared, NOW)).toContain('counts this as accepted');
  });
});
