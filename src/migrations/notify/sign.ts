import { createHmac } from 'node:crypto';

/** What is told, in the form in which it is signed. */
export interface SignedMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * As https://www.standardwebhooks.com has it, so that receivers can use any library of it. `secret` is `whsec_` and
 * base64. A message that is told again has the same id, and the time of the attempt.
 */
export function signMessage(
  { id, body }: { readonly id: string; readonly body: string },
  { secret, now }: { readonly secret: string; readonly now: Date },
): SignedMessage {
  const timestamp = Math.floor(now.getTime() / 1_000);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'backhaul',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  };
}
