import type { html } from 'hono/html';

/** Markup whose values are escaped. */
export type Html = ReturnType<typeof html>;
