import { createSemaphore } from '../../lib/async/semaphore.ts';
import { readBody } from '../http/read-body.ts';
import { MAX_BODY_BYTES } from './limits.ts';
import { busy } from './refusal.ts';

/** Bounds what all requests in progress together hold in memory. */
export interface Admission {
  /** Reads the body and then runs `work`, when its turn comes, in order of arrival. */
  admit<T>(request: Request, work: (body: Buffer) => Promise<T>): Promise<T>;
}

export function createAdmission(limits: { readonly heldBytes: number; readonly atWork: number }): Admission {
  // Waiting requests are bounded by the bytes that they hold.
  const runInTurn = createSemaphore(limits.atWork, Number.POSITIVE_INFINITY, busy);
  let heldBytes = 0;
  return {
    async admit(request, work) {
      let ownBytes = 0;
      try {
        const body = await readBody(request, MAX_BODY_BYTES, (bytes) => {
          if (heldBytes + bytes > limits.heldBytes) throw busy();
          heldBytes += bytes;
          ownBytes += bytes;
        });
        return await runInTurn(() => work(body));
      } finally {
        heldBytes -= ownBytes;
      }
    },
  };
}
