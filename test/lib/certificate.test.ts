import { expect, it } from 'vitest';
import { explainCertificate } from '../../src/lib/certificate.ts';

const withCode = (code: string, more: object = {}) => Object.assign(new Error('no'), { code, ...more });

it.each([
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /no authority that Node\.js trusts/],
  ['CERT_HAS_EXPIRED', /is not valid .* renew it/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /another host name/],
])('explains %s, also where Node nests it', (code, text) => {
  const nested = [
    withCode(code),
    new Error('fetch failed', { cause: withCode(code) }),
    new AggregateError([withCode('ECONNREFUSED'), withCode(code)]),
  ];
  for (const error of nested) expect(explainCertificate(error, 'https://a')).toMatch(text);
});

it('leaves to the retries what may pass', () => {
  for (const code of ['ECONNRESET', 'CERT_NOT_YET_VALID', 'EPROTO'])
    expect(explainCertificate(withCode(code), 'https://a')).toBeUndefined();
  expect(explainCertificate('no error', 'https://a')).toBeUndefined();
});
