import { html, raw } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import { INSIGHT_STYLES } from '../../../charts/styles.ts';
import { PAGE_STYLES } from './page-styles.ts';

/**
 * A page that is one file. Its policy lets nothing be loaded or run, whatever values it shows.
 *
 * @param styles Added to those that all pages have.
 */
export async function wrapPage(title: string, body: Html, styles = ''): Promise<string> {
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <style>${raw(PAGE_STYLES)}${raw(INSIGHT_STYLES)}${raw(styles)}</style>
  </head>
  <body><div class="page">${body}</div></body>
</html>
`;
  return page.toString();
}
