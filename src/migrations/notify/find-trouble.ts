import type { Staging } from '../../contract/staging.ts';
import { layout } from '../../state/keys/migration.ts';
import { listAttempts } from '../../state/notices/notices.ts';
import { MAX_ATTEMPTS, toNextAttemptMs } from './retries.ts';

/** Why the webhook does not know the newest state that it was to be told of. */
export interface WebhookTrouble {
  readonly reason: string;
  /** Of the last attempt, ISO 8601. */
  readonly at: string;
  readonly attempts: number;
  /** When it is due again, ISO 8601; absent where it is not tried again. */
  readonly next?: string;
  /** Whether it is not tried again. */
  readonly isGivenUp: boolean;
}

/** Undefined where it knows, or was not to be told. */
export async function findWebhookTrouble(
  staging: Staging,
  name: string,
): Promise<WebhookTrouble | undefined> {
  const all = await listAttempts(staging, layout(name).notices);
  const attempts = all.get(Math.max(0, ...all.keys()));
  const last = await attempts?.load();
  if (!attempts || last?.outcome !== 'failed') return undefined;
  const { reason, at } = last;
  const { count } = attempts;
  const isGivenUp = count >= MAX_ATTEMPTS;
  const next = isGivenUp ? {} : { next: new Date(toNextAttemptMs(count, last)).toISOString() };
  return { reason, at, attempts: count, isGivenUp, ...next };
}

/** A sentence without its article and full stop. */
export const describeTrouble = ({ reason, at, attempts, next }: WebhookTrouble): string =>
  `webhook could not be told of this: ${reason} (attempt ${attempts} of ${MAX_ATTEMPTS} at ${at}; ${
    next === undefined
      ? 'it is not tried again'
      : `the next is due at ${next}, by "backhaul serve", a worker or a run of it`
  })`;
