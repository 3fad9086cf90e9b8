import { z } from 'zod';
import { BYTE_SIZE, PERCENTAGE, parseByteSize } from '../units.ts';

export const whole = (from: number, to: number) => {
  const error = `takes a whole number from ${from} to ${to}`;
  return z.int(error).min(from, error).max(to, error);
};

/** A size such as `5MiB` becomes bytes; bytes stay as they are. */
export const byteSize = (fromBytes: number, toBytes: number, range: string) => {
  const error = `takes a size from ${range}, such as 5MiB, 512KiB or a number of bytes`;
  return z
    .union([z.int(error), z.string().regex(BYTE_SIZE, error)], { error })
    .transform((size) => (typeof size === 'number' ? size : (parseByteSize(size) ?? 0)))
    .pipe(z.int(error).min(fromBytes, error).max(toBytes, error));
};

const SHARE_OR_COUNT = 'takes a share of all records such as 1% or 0.5%, or a number of records';
export const shareOrCount = z.union(
  [z.int(SHARE_OR_COUNT).min(0, SHARE_OR_COUNT), z.string().regex(PERCENTAGE, SHARE_OR_COUNT)],
  { error: SHARE_OR_COUNT },
);

/** The address in front of `/batch/`. Credentials in it would end up in reports (I10). */
export const serviceAddress = z.string().superRefine((url, context) => {
  const problem = addressProblem(url);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

function addressProblem(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    return 'takes an address that starts with https:// or http://';
  }
  if (parsed.username !== '' || parsed.password !== '') return 'must not hold a user name or password';
  if (parsed.search !== '' || parsed.hash !== '') return 'must end before any ? or #';
  if (/\/batch\/*$/.test(parsed.pathname)) return 'is the address in front of /batch/: leave that off';
  return undefined;
}

/** A secret is named, never written: the manifest can then be stored and shown as it is (I10). */
export const SECRET_REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
export const secretReference = z
  .string()
  .regex(
    SECRET_REFERENCE,
    'names the variable that holds the key, as ${BACKHAUL_PROJECT_API_KEY}; the key itself stays out of the manifest',
  );
