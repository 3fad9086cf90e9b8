import { describe, expect, it } from 'vitest';
import { classify, type Decision, type TargetResponse } from '../../src/deliver/classify.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const answer = (status: number, body = '', more: Partial<TargetResponse> = {}): TargetResponse => ({
  status,
  body,
  retryAfter: undefined,
  location: undefined,
  ...more,
});

describe('classify', () => {
  const kinds: [string, TargetResponse, Decision['kind']][] = [
    ['{"status":1}', answer(200, '{"status":1}'), 'accepted'],
    ['{"status":"Ok"}', answer(200, '{"status":"Ok"}\n'), 'accepted'],
    ['a plain ok', answer(200, 'ok'), 'unproven'],
    ['a 204 without a body', answer(204), 'unproven'],
    [
      'recordings over their quota',
      answer(200, '{"status":"Ok","quota_limited":["recordings"]}'),
      'accepted',
    ],
    ['events over their quota', answer(200, '{"status":"Ok","quota_limited":["events"]}'), 'pause'],
    ['a page of a proxy', answer(200, '<html><title>Sign in</title></html>'), 'foreign'],
    ['a 200 that reports failure', answer(200, '{"status":0}'), 'unproven'],
    ['a 200 with an error', answer(200, '{"status":1,"error":"queue down"}'), 'unproven'],
    ['301', answer(301), 'doubt'],
    ['308', answer(308), 'doubt'],
    ['400', answer(400), 'bisect'],
    ['401', answer(401), 'pause'],
    ['402', answer(402), 'pause'],
    ['403', answer(403), 'doubt'],
    ['404', answer(404), 'doubt'],
    ['405', answer(405), 'doubt'],
    ['408', answer(408), 'retry'],
    ['413', answer(413), 'halve'],
    ['415', answer(415), 'doubt'],
    ['425', answer(425), 'retry'],
    ['429', answer(429, 'rate limited'), 'retry'],
    ['429 for the bill', answer(429, 'billing limit reached'), 'pause'],
    ['429 for the bill with a time', answer(429, 'billing limit reached', { retryAfter: '1' }), 'pause'],
    ['429 for a quota', answer(429, 'quota exceeded'), 'pause'],
    ['429 for a quota with a time', answer(429, 'Quota exceeded per minute', { retryAfter: '1' }), 'retry'],
    ['500', answer(500), 'retry'],
    ['503', answer(503, 'transient error, please retry'), 'retry'],
    ['599', answer(599), 'retry'],
  ];
  it.each(kinds)('takes %s for what it is', (_name, given, kind) => {
    expect(classify(given, NOW_MS, { apiKey: '' }).kind).toBe(kind);
  });

  const waits: [string, string, number | undefined][] = [
    ['seconds', '7', 7000],
    ['no time at all', '0', 0],
    ['a date to come', 'Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
    ['a date gone by', 'Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['a year', '31536000', 3_600_000],
    ['nonsense', 'soon', undefined],
    ['nothing', '', undefined],
  ];
  it.each(waits)('reads a Retry-After of %s', (_name, retryAfter, afterMs) => {
    const decision = classify(answer(429, '', { retryAfter }), NOW_MS, { apiKey: '' });
    expect(decision.kind === 'retry' ? decision.afterMs : 'another kind').toBe(afterMs);
  });

  it('slows everyone down on 429 and on any Retry-After, not on a plain 500', () => {
    const slows = (given: TargetResponse) => {
      const decision = classify(given, NOW_MS, { apiKey: '' });
      return decision.kind === 'retry' && decision.slowDown;
    };
    expect(slows(answer(429))).toBe(true);
    expect(slows(answer(503, '', { retryAfter: '3' }))).toBe(true);
    expect(slows(answer(500))).toBe(false);
  });

  it("gives the destination's own words, shortened and without the key", () => {
    const body = JSON.stringify({ detail: `key phc_secret: ${'long '.repeat(100)}` });
    const decision = classify(answer(400, body), NOW_MS, { apiKey: 'phc_secret' });
    const detail = decision.kind === 'bisect' ? decision.detail : '';
    expect(detail).toMatch(/^key \*\*\*: long/);
    expect(detail.length).toBeGreaterThan(195);
    expect(detail.length).toBeLessThanOrEqual(200);
  });

  it('shows what it saw of an answer without a proof: short, without the key, and what to do', () => {
    const body = `{"taken":"phc_secret","pad":"${'x'.repeat(500)}"}`;
    const decision = classify(answer(200, body), NOW_MS, { apiKey: 'phc_secret' });
    const message = decision.kind === 'unproven' ? decision.message : '';
    expect(message).toContain('HTTP 200 and the body {"taken":"***","pad":"xxx');
    expect(message).toContain('declare it as destination.acceptance');
    expect(message.length).toBeLessThan(600);
    expect(classify(answer(202), NOW_MS, { apiKey: '' })).toMatchObject({
      detail: 'HTTP 202 and an empty body',
    });
  });

  it('passes on nothing that would control a terminal', () => {
    const page = '\u001b[2J\u001b]0;all is well\u0007\u009b31m no';
    for (const given of [answer(401, page), answer(503, page), answer(200, `{"x":"${page}"}`)])
      expect(JSON.stringify(classify(given, NOW_MS, { apiKey: 'k' }))).not.toMatch(
        /\\u00[0189]|[\u0080-\u009f]/,
      );
  });

  it('counts the answer that the manifest declares', () => {
    const acceptance = { status: 204 };
    expect(classify(answer(204), NOW_MS, { apiKey: '', acceptance }).kind).toBe('accepted');
    expect(classify(answer(200), NOW_MS, { apiKey: '', acceptance }).kind).toBe('unproven');
  });

  it('says what to do where the operator must act', () => {
    const messages = [
      answer(401),
      answer(403),
      answer(402),
      answer(404),
      answer(302, '', { location: 'https://b.example' }),
    ]
      .map((given) => classify(given, NOW_MS, { apiKey: '' }))
      .map((decision) => ('message' in decision ? decision.message : ''));
    expect(messages[0]).toContain('Check destination.apiKey, then resume');
    expect(messages[1]).toContain('belongs to the project');
    expect(messages[2]).toContain('Raise the billing limit');
    expect(messages[3]).toContain('the address in front of /batch/');
    expect(messages[4]).toContain('redirects to https://b.example');
  });
});
