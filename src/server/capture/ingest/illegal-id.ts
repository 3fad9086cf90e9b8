/**
 * Ids that identify nobody. Clients send them by mistake, and a merge over one would join everybody who
 * ever had it into a single person.
 */
const ILLEGAL_ANY_CASE = new Set(
  'anonymous guest distinctid distinct_id id not_authenticated email undefined true false'.split(' '),
);
const ILLEGAL_AS_WRITTEN = new Set(['[object Object]', 'NaN', 'None', 'none', 'null', '0', 'undefined']);

export function isIllegalId(id: string): boolean {
  const bare = (/^(["'])(.*)\1$/s.exec(id)?.[2] ?? id).trim();
  return bare === '' || ILLEGAL_ANY_CASE.has(bare.toLowerCase()) || ILLEGAL_AS_WRITTEN.has(bare);
}
