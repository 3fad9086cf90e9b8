import { Worker } from 'node:worker_threads';
import { getMessage, UnavailableError } from '../../lib/errors.ts';
import type { Row, SqlValue, StatementOptions } from './db.ts';
import { createPgliteFiles } from './pglite-files.ts';
import type { PgliteSession } from './pglite-session.ts';

export type WorkerRequest =
  | {
      readonly kind: 'query';
      readonly id: number;
      readonly text: string;
      readonly params: readonly SqlValue[];
      readonly options: StatementOptions | undefined;
    }
  | { readonly kind: 'close'; readonly id: number };

export type WorkerReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'rows'; readonly id: number; readonly rows: Row[] }
  | {
      readonly kind: 'error';
      readonly id: number;
      readonly message: string;
      readonly code: string | undefined;
      readonly lost: boolean;
    };

/** An error that Postgres raised in the other thread; its class does not survive the journey. */
class WorkerSqlError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.name = 'WorkerSqlError';
    this.code = code;
  }
}

interface Waiting {
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: Error) => void;
}

type Question =
  | {
      readonly kind: 'query';
      readonly text: string;
      readonly params: readonly SqlValue[];
      readonly options: StatementOptions | undefined;
    }
  | { readonly kind: 'close' };

/** A PGlite session in a thread of its own, spoken to by messages. */
export async function startPgliteThread(dataDir: string): Promise<PgliteSession> {
  await createPgliteFiles(dataDir);
  const worker = new Worker(new URL('./pglite-worker.js', import.meta.url), {
    workerData: { dataDir },
    execArgv: [], // flags of the process, such as --input-type, are not for this thread
  });
  const waiting = new Map<number, Waiting>();
  let lost = false;
  let nextId = 0;

  function fail(error: Error): void {
    lost = true;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  const ready = new Promise<void>((resolve, reject) => {
    worker.on('message', (reply: WorkerReply) => {
      if (reply.kind === 'ready') return resolve();
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (reply.kind === 'rows') return asked?.resolve(reply.rows);
      lost ||= reply.lost;
      asked?.reject(new WorkerSqlError(reply.message, reply.code));
    });
    const end = (error: Error) => {
      fail(error);
      reject(error);
    };
    worker.on('error', (cause) => {
      end(
        new UnavailableError(
          `The embedded database in ${dataDir} failed: ${getMessage(cause)}`,
          'backoff',
          cause,
        ),
      );
    });
    worker.on('exit', () => end(new UnavailableError(`The embedded database in ${dataDir} has stopped.`)));
  });
  await ready;

  function ask(question: Question): Promise<Row[]> {
    if (lost) return Promise.reject(new UnavailableError(`The embedded database in ${dataDir} has stopped.`));
    const id = nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ ...question, id } satisfies WorkerRequest, findTransferable(question));
    });
  }

  return {
    query: (text, params, options) => ask({ kind: 'query', text, params, options }),
    async close() {
      const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      if (lost) {
        await worker.terminate(); // resolves at once when the thread is gone already
        return;
      }
      await ask({ kind: 'close' });
      await ended;
    },
    get lost() {
      return lost;
    },
  };
}

/** Bytes move to the other thread instead of being copied. */
function findTransferable(question: Question): ArrayBuffer[] {
  if (question.kind === 'close') return [];
  return question.params.flatMap((param) =>
    param instanceof Uint8Array && param.buffer instanceof ArrayBuffer ? [param.buffer] : [],
  );
}
