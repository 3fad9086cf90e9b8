import { createSemaphore, type Semaphore } from '../../lib/async/semaphore.ts';
import { tooManyAtOnce } from './insight-error.ts';

const MAX_WAITING = 300;

/**
 * Lets only so many questions be asked of the database at a time: fewer than it has connections, so that events
 * are ingested meanwhile. On the embedded database one, as its steps share their tables (steps.ts).
 */
export const createQuestionTurns = (atOnce: number): Semaphore =>
  createSemaphore(atOnce, MAX_WAITING, tooManyAtOnce);
