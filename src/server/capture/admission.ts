import { createSemaphore } from '../../lib/async/semaphore.ts';
import type { RequestSource } from '../http/incoming.ts';
import { readBody } from '../http/read-body.ts';
import { MAX_BODY_BYTES } from './limits.ts';
import { busy } from './refusal.ts';

/** Bounds what all requests in progress together hold in memory. */
export interface Admission {
  /** Reads the body and then runs `work`, when its turn comes, in order of arrival. */
  admit<T>(source: RequestSource, work: (body: Buffer) => Promise<T>): Promise<T>;
  /** The same in two steps, of which the second one need not wait for large requests. */
  admitDecoded<B, T>(source: RequestSource, steps: AdmittedSteps<B, T>): Promise<T>;
}

export interface AdmittedSteps<B, T> {
  readonly decode: (body: Buffer) => Promise<B>;
  /** Of what takes little memory many are at work at a time. */
  readonly isSmall: (decoded: B) => boolean;
  readonly work: (decoded: B) => Promise<T>;
}

export interface AdmissionLimits {
  readonly heldBytes: number;
  /** Requests being decoded, and large ones at work. */
  readonly atWork: number;
  /** @default atWork */
  readonly smallAtWork?: number;
}

export function createAdmission({ heldBytes, atWork, smallAtWork = atWork }: AdmissionLimits): Admission {
  // Waiting requests are bounded by the bytes that they hold.
  const runInTurn = createSemaphore(atWork, Number.POSITIVE_INFINITY, busy);
  const runSmall = createSemaphore(smallAtWork, Number.POSITIVE_INFINITY, busy);
  let held = 0;

  async function hold<T>(source: RequestSource, run: (body: Buffer) => Promise<T>): Promise<T> {
    let own = 0;
    try {
      const body = await readBody(source, MAX_BODY_BYTES, (bytes) => {
        if (held + bytes > heldBytes) throw busy();
        held += bytes;
        own += bytes;
      });
      return await run(body);
    } finally {
      held -= own;
    }
  }

  return {
    admit: (source, work) => hold(source, (body) => runInTurn(() => work(body))),
    admitDecoded: (source, { decode, isSmall, work }) =>
      hold(source, async (body) => {
        const finish = await runInTurn(async () => {
          const decoded = await decode(body);
          if (isSmall(decoded)) return () => runSmall(() => work(decoded));
          const result = await work(decoded);
          return async () => result;
        });
        return finish();
      }),
  };
}
