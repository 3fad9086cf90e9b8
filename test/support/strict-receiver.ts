import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly id: string;
  readonly type: string;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A receiver of Standard Webhooks: it takes what is signed, new and whole, and drops what it has already. */
export interface StrictReceiver {
  readonly url: string;
  readonly secret: string;
  /** Taken, each id once, in order. */
  readonly messages: Received[];
  /** Every request that was signed rightly, with its id. */
  readonly arrivals: string[];
  /** What was wrong with the others. */
  readonly complaints: string[];
  /** Answers instead; undefined: it takes messages again. */
  answerWith(answer: ((response: ServerResponse) => void) | undefined): void;
  stop(): Promise<void>;
}

const TOLERANCE_S = 300;

export async function startStrictReceiver({
  now = () => new Date(),
}: {
  readonly now?: () => Date;
} = {}): Promise<StrictReceiver> {
  const key = Buffer.alloc(32, 'webhook');
  const secret = `whsec_${key.toString('base64')}`;
  const messages: Received[] = [];
  const arrivals: string[] = [];
  const complaints: string[] = [];
  let answer: ((response: ServerResponse) => void) | undefined;

  const read = async (request: IncomingMessage): Promise<Received> => {
    const body = Buffer.concat(await request.toArray()).toString();
    const header = (name: string) => {
      const value = request.headers[name];
      if (typeof value !== 'string' || value === '') throw new Error(`${name} is missing`);
      return value;
    };
    if (request.method !== 'POST') throw new Error(`${request.method}`);
    if (!header('content-type').startsWith('application/json')) throw new Error('no JSON');
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
    if (id.includes('.')) throw new Error('a full stop in an id makes what is signed ambiguous');
    if (!/^\d+$/.test(timestamp)) throw new Error(`the timestamp is ${timestamp}`);
    if (Math.abs(now().getTime() / 1_000 - Number(timestamp)) > TOLERANCE_S) throw new Error('too old');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
    const isSigned = header('webhook-signature')
      .split(' ')
      .map((one) => /^v1,(.+)$/.exec(one)?.[1] ?? '')
      .map((base64) => Buffer.from(base64, 'base64'))
      .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
    if (!isSigned) throw new Error(`the signature of ${id} is wrong`);
    const { type, timestamp: at, text, data } = JSON.parse(body);
    if (Number.isNaN(Date.parse(at))) throw new Error(`the time is ${at}`);
    return { id, type, text, data };
  };

  const server = createServer((request, response) => {
    read(request).then(
      (message) => {
        arrivals.push(message.id);
        if (answer) return answer(response);
        if (!messages.some(({ id }) => id === message.id)) messages.push(message);
        response.writeHead(204).end();
      },
      (error: Error) => {
        complaints.push(error.message);
        response.writeHead(400).end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks/T0PS3CRET`,
    secret,
    messages,
    arrivals,
    complaints,
    answerWith(next) {
      answer = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
