import type { Staging } from '../../contract/staging.ts';
import { layout } from '../../state/keys.ts';
import { listAttempts } from '../../state/notices/notices.ts';
import { MAX_ATTEMPTS } from './retries.ts';

/** Why the webhook does not know the newest state that it was to be told of. */
export interface WebhookTrouble {
  readonly reason: string;
  /** Of the last attempt, ISO 8601. */
  readonly at: string;
  readonly attempts: number;
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
  return { reason, at, attempts: attempts.count, isGivenUp: attempts.count >= MAX_ATTEMPTS };
}

/** A sentence without its article and full stop. */
export const describeTrouble = ({ reason, at, attempts, isGivenUp }: WebhookTrouble): string =>
  `webhook could not be told of this: ${reason} (attempt ${attempts} at ${at}; ${isGivenUp ? 'it is not tried again' : 'it is tried again'})`;
