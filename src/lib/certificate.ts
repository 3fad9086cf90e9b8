const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'INVALID_CA',
]);
const INVALID = new Set(['CERT_HAS_EXPIRED', 'CERT_REVOKED', 'CERT_SIGNATURE_FAILURE', 'INVALID_PURPOSE']);
const OTHER_HOST = new Set(['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH']);

/**
 * Why the certificate of an address is not accepted, and what to do, where no waiting corrects it; undefined for any
 * other error. One that is not valid yet becomes so, and is waited for.
 */
export function explainCertificate(error: unknown, address: string): string | undefined {
  const code = findCode(error, (each) => UNTRUSTED.has(each) || INVALID.has(each) || OTHER_HOST.has(each));
  if (code === undefined) return undefined;
  if (UNTRUSTED.has(code)) {
    return `the certificate of ${address} is of no authority that Node.js trusts (${code}): set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of that authority, for every process that connects to it`;
  }
  return OTHER_HOST.has(code)
    ? `the certificate of ${address} is for another host name (${code}): set the address to a name that the certificate has, or give the service a certificate for this one`
    : `the certificate of ${address} is not valid (${code}): renew it at the service, and check the clock of this machine`;
}

/** Node nests the reason of a failed connection, and has one for each address of a host. */
function findCode(error: unknown, isWanted: (code: string) => boolean, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > MOST_NESTED) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string' && isWanted(code)) return code;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  for (const each of inner) {
    const found = findCode(each, isWanted, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MOST_NESTED = 5;
