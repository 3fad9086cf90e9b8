import type { Context } from 'hono';
import type { ApiEnv } from './access.ts';

/** Who asks, and where. */
export interface Caller {
  readonly projectId: number;
  readonly userId: number;
  /** Level in the project's organisation. */
  readonly memberLevel: number;
}

/** On a route below a project. */
export const getCaller = (c: Context<ApiEnv>): Caller => ({
  projectId: c.get('project').id,
  userId: c.get('user').id,
  memberLevel: c.get('level'),
});
