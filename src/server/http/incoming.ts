import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';

/** What is asked of Hono's Context. */
export interface RequestSource {
  readonly req: { readonly raw: Request };
  readonly env: unknown;
}

/** The request as Node has it; undefined for one that came over no connection. */
export const getIncoming = ({ env }: RequestSource): IncomingMessage | undefined =>
  (env as Partial<HttpBindings> | undefined)?.incoming;
