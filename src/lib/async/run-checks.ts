import { withTimeout } from './timeout.ts';

/** What something needs, by name; each throws, or rejects with, what is wrong. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>;

type Result = 'ok' | 'unavailable';

/** The answer of /readyz. */
export interface Health {
  readonly status: Result;
  readonly checks: Readonly<Record<string, Result>>;
}

const CHECK_WITHIN_MS = 5_000;

/** Runs all checks at once. Says no address and no reason: what answers with it is open to everybody. */
export async function runChecks(checks: Checks, withinMs = CHECK_WITHIN_MS): Promise<Health> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check, withinMs)] as const),
  );
  const status = results.every(([, result]) => result === 'ok') ? 'ok' : 'unavailable';
  return { status, checks: Object.fromEntries(results) };
}

async function runCheck(check: () => Promise<unknown>, withinMs: number): Promise<Result> {
  try {
    await withTimeout(check(), withinMs, () => new Error('no answer'));
    return 'ok';
  } catch {
    return 'unavailable';
  }
}
