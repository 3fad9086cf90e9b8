import { parentPort, workerData } from 'node:worker_threads';
import { getMessage } from '../../lib/errors.ts';
import { getSqlState } from './db.ts';
import { openPgliteSession } from './pglite-session.ts';
import type { WorkerReply, WorkerRequest } from './pglite-thread.ts';

// The thread that holds PGlite, so that a long query never blocks the API's event loop.
if (parentPort === null) throw new Error('pglite-worker must be started as a worker thread');
const port = parentPort;
const { dataDir } = workerData as { dataDir: string };
const session = await openPgliteSession(dataDir);

async function answer(request: WorkerRequest): Promise<WorkerReply> {
  if (request.kind === 'close') {
    await session.close();
    return { kind: 'rows', id: request.id, rows: [] };
  }
  try {
    const { id, text, params, options } = request;
    return { kind: 'rows', id, rows: await session.query(text, params, options) };
  } catch (error) {
    const { id } = request;
    return { kind: 'error', id, message: getMessage(error), code: getSqlState(error), lost: session.lost };
  }
}

port.on('message', async (request: WorkerRequest) => {
  port.postMessage(await answer(request));
  if (request.kind === 'close') port.close();
});
port.postMessage({ kind: 'ready' } satisfies WorkerReply);
