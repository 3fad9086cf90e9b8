import { describe, expect, it } from 'vitest';
import { type Acceptance, judgeAnswer, type Verdict } from '../../src/deliver/acceptance.ts';

describe('judgeAnswer', () => {
  const known: [string, Verdict][] = [
    ['{"status":1}', 'accepted'],
    ['{"status": 1}\n', 'accepted'],
    ['{"status":"Ok"}', 'accepted'],
    ['{"status":"ok","quota_limited":[]}', 'accepted'],
    ['{"status":1,"error":null,"errors":[]}', 'accepted'],
    ['{"status":"Ok","quota_limited":["recordings"]}', 'accepted'],
    ['{"status":"Ok","quota_limited":["recordings","events"]}', 'over_quota'],
    ['{"status":1,"quota_limited":["events"]}', 'over_quota'],
    ['{"status":1,"quota_limited":["something_new"]}', 'over_quota'],
    ['{"status":1,"quota_limited":true}', 'over_quota'],
    ['<!doctype html><title>Sign in</title>', 'page'],
    ['  <html>', 'page'],
    ['', 'unproven'],
    ['ok', 'unproven'],
    ['1', 'unproven'],
    ['"Ok"', 'unproven'],
    ['null', 'unproven'],
    ['[]', 'unproven'],
    ['[{"status":1}]', 'unproven'],
    ['{}', 'unproven'],
    ['{"status":0}', 'unproven'],
    ['{"status":true}', 'unproven'],
    ['{"status":"queued"}', 'unproven'],
    ['{"status":1', 'unproven'],
    ['{"status":1}{', 'unproven'],
    ['{"success":true}', 'unproven'],
    ['{"success":false}', 'unproven'],
    ['{"status":1,"success":false}', 'unproven'],
    ['{"errors":[{"index":3}]}', 'unproven'],
    ['{"status":1,"errors":["disk full"]}', 'unproven'],
    ['{"status":1,"errors":{"0":"bad"}}', 'unproven'],
    ['{"status":1,"error":"queue down"}', 'unproven'],
    ['{"status":1,"success":true}', 'accepted'],
    ['{"status":1,"failed":[],"dropped":0}', 'accepted'],
    ['{"status":1,"success":0}', 'unproven'],
    ['{"status":1,"success":"false"}', 'unproven'],
    ['{"status":1,"ok":false}', 'unproven'],
    ['{"status":"ok","accepted":0,"rejected":1}', 'unproven'],
    ['{"status":1,"dropped":1}', 'unproven'],
    ['{"status":1,"failed":[{"index":0}]}', 'unproven'],
    ['{"status":1,"quotaLimited":[]}', 'accepted'],
    ['{"status":1,"quotaLimited":["events"]}', 'over_quota'],
    ['{"status":1,"message":"quota exceeded, events dropped"}', 'unproven'],
    ['{"status":1,"something_new":null}', 'unproven'],
    ['{"status":0,"status":1}', 'unproven'],
    ['{"status":1,"st\\u0061tus":1}', 'unproven'],
    ['{"errors":["disk full"],"status":1,"errors":[]}', 'unproven'],
    ['{"status":1,"errors":[{"status":0}],"errors":[]}', 'unproven'],
    ['{"status":1,"quota_limited":["recordings"],"error":{}}', 'accepted'],
  ];
  it.each(known)('takes %s as %s', (body, verdict) => {
    expect(judgeAnswer(200, body)).toBe(verdict);
  });

  const statuses: [number, Verdict][] = [
    [200, 'accepted'],
    [201, 'accepted'],
    [202, 'accepted'],
    [203, 'unproven'],
    [204, 'unproven'],
    [205, 'unproven'],
    [206, 'unproven'],
    [207, 'unproven'],
    [208, 'unproven'],
    [226, 'unproven'],
    [299, 'unproven'],
  ];
  it.each(statuses)('takes a known body with status %i as %s', (status, verdict) => {
    expect(judgeAnswer(status, '{"status":1}')).toBe(verdict);
    expect(judgeAnswer(status, '{"queued":true}', { fields: { queued: true } })).toBe(verdict);
    expect(judgeAnswer(status, '{"queued":true}', { status, fields: { queued: true } })).toBe('accepted');
  });

  const declared: [string, Acceptance, number, string, Verdict][] = [
    ['its status with an empty body', { status: 204 }, 204, '', 'accepted'],
    ['another status', { status: 204 }, 200, '', 'unproven'],
    ['its status with a page', { status: 200 }, 200, '<html>Sign in</html>', 'page'],
    ['its status with text', { status: 200 }, 200, 'come in', 'unproven'],
    ['its status with JSON', { status: 200 }, 200, '{"success":true}', 'unproven'],
    ['its field', { fields: { success: true } }, 200, '{"success":true,"took":3}', 'accepted'],
    ['another value of its field', { fields: { success: true } }, 200, '{"success":"true"}', 'unproven'],
    ['its field missing', { fields: { success: true } }, 200, '{}', 'unproven'],
    ['null that is not there', { fields: { left: null } }, 200, '{}', 'unproven'],
    ['one of two fields', { fields: { a: 1, b: 2 } }, 200, '{"a":1,"b":3}', 'unproven'],
    ['both fields', { fields: { a: 1, b: 2 } }, 200, '{"b":2,"a":1}', 'accepted'],
    ['fields with its status', { status: 202, fields: { a: 1 } }, 202, '{"a":1}', 'accepted'],
    ['fields with another status', { status: 202, fields: { a: 1 } }, 200, '{"a":1}', 'unproven'],
    ['status alone where fields are declared', { status: 202, fields: { a: 1 } }, 202, '', 'unproven'],
    ['fields beside an error', { fields: { a: 1 } }, 200, '{"a":1,"errors":["x"]}', 'unproven'],
    ['fields beside a failure', { fields: { a: 1 } }, 200, '{"a":1,"failed":2}', 'unproven'],
    ['fields beside a no', { fields: { a: 1 } }, 200, '{"a":1,"success":"false"}', 'unproven'],
    ['fields of a known answer', { fields: { took: 3 } }, 200, '{"status":1,"took":3}', 'accepted'],
    ['fields beside a quota', { fields: { a: 1 } }, 200, '{"a":1,"quota_limited":["events"]}', 'over_quota'],
    ['its field twice', { fields: { a: 1 } }, 200, '{"a":0,"a":1}', 'unproven'],
    ['other fields inside', { fields: { a: 1 } }, 200, '{"b":{"a":2},"c":["a",":"],"a":1}', 'accepted'],
    ['a known answer all the same', { status: 204 }, 200, '{"status":1}', 'accepted'],
  ];
  it.each(declared)('with a declared answer, takes %s', (_name, acceptance, status, body, verdict) => {
    expect(judgeAnswer(status, body, acceptance)).toBe(verdict);
  });
});
