import { readBody } from '../http/read-body.ts';
import { MAX_BODY_BYTES } from './limits.ts';
import { busy } from './refusal.ts';

/** The door of ingestion: bounds what all requests under way together hold in memory. */
export interface Admission {
  /** Reads the body, and has `work` do the rest when its turn comes, in order of arrival. */
  take<T>(request: Request, work: (body: Buffer) => Promise<T>): Promise<T>;
}

export function createAdmission(limits: { readonly heldBytes: number; readonly atWork: number }): Admission {
  const inTurn = createSemaphore(limits.atWork);
  let heldBytes = 0;
  return {
    async take(request, work) {
      let ownBytes = 0;
      try {
        const body = await readBody(request, MAX_BODY_BYTES, (bytes) => {
          if (heldBytes + bytes > limits.heldBytes) throw busy();
          heldBytes += bytes;
          ownBytes += bytes;
        });
        return await inTurn(() => work(body));
      } finally {
        heldBytes -= ownBytes;
      }
    },
  };
}

function createSemaphore(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // the place comes with the call
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
