import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import type { MigrationStatus, MigrationView } from '../../migrations/status/view.ts';
import { findSite } from '../auth/roles.ts';

export const ACTIONS = ['pause', 'resume', 'cancel', 'replay'] as const;
export type Action = (typeof ACTIONS)[number];

export const isAction = (text: string): text is Action => (ACTIONS as readonly string[]).includes(text);

/** What an operator can do in the state of a migration. */
export function listActions({
  state,
  counts,
  replayed,
}: Pick<MigrationStatus, 'state' | 'counts'> & Pick<MigrationView, 'replayed'>): Action[] {
  const left = replayed?.left ?? counts.rejected;
  switch (state) {
    case 'running':
      return ['pause', 'cancel'];
    case 'interrupted':
    case 'stopped':
      return ['resume', 'pause', 'cancel'];
    case 'paused':
      return ['resume', 'cancel'];
    case 'cancelled':
      return left > 0 ? ['resume', 'replay'] : ['resume'];
    case 'finished':
      return left > 0 ? ['replay'] : [];
    case 'unknown':
      return ['pause', 'cancel'];
    case 'removed':
    case 'moved':
    case 'importing':
    case 'damaged':
      return [];
  }
}

/** For the forms of one migration: only who knows the password of operators can make it. */
export const createFormToken = (secret: string, migration: string): string =>
  createHmac('sha256', secret).update(`form of ${migration}`).digest('base64url');

/** Why a form is not acted on; undefined where it comes from our own page. */
export function findForgery(
  c: Context,
  { expected, given }: { readonly expected: string; readonly given: unknown },
): string | undefined {
  if (findSite(c) !== 'own')
    return 'The form was sent from another site. Open the page of the migration and use its buttons.';
  const [token, own] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(expected)];
  const isSame = token.length === own.length && timingSafeEqual(token, own);
  return isSame ? undefined : 'The page is older than the password of operators. Load it again and repeat.';
}
