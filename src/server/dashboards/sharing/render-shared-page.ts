import { setImmediate } from 'node:timers/promises';
import { html, raw } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import { INSIGHT_STYLES } from '../../../charts/styles.ts';
import { renderInsight } from '../../insights/render-insight.ts';
import type { StoredInsight } from '../../insights/store.ts';
import type { StoredDashboard } from '../store.ts';
import { type PlacedTile, placeTiles } from '../tiles/place-tiles.ts';
import type { TileView } from '../tiles/view-tiles.ts';
import { renderDates, renderInsightDates } from './render-dates.ts';
import { renderMarkdown } from './render-markdown.ts';
import { SHARED_STYLES } from './shared-styles.ts';

export interface SharedView {
  readonly dashboard: StoredDashboard;
  /** With their results. */
  readonly views: readonly TileView[];
  /** ISO 8601: when the oldest of the results was computed. */
  readonly asOf: string;
}

/** A page and its inline styles, whose hash its policy must contain. */
export interface Page {
  readonly html: string;
  readonly styles: string;
}

/** A dashboard as a self-contained page: no script, no file. `embedded`: as part of another page. */
export async function renderSharedPage(
  { dashboard, views, asOf }: SharedView,
  embedded: boolean,
): Promise<Page> {
  const dates = renderDates(dashboard.filters);
  const placed = placeTiles(views.map(({ tile }) => tile.layouts));
  const tiles: Html[] = [];
  for (const [place, { index }] of placed.entries()) {
    const view = views[index];
    if (view) tiles.push(renderTile(view, `t${place}`, dates !== undefined));
    await setImmediate(); // lets other requests run between tiles
  }
  const title = dashboard.name || 'Untitled dashboard';
  const body = html`
    <div class="page">
      <header class="head">
        <h1>${title}</h1>
        <p class="meta">${dates && html`<span>${dates}</span> `}<span>As of <time datetime="${asOf}">${renderTime(asOf)}</time></span></p>
        ${dashboard.description && html`<p class="about">${dashboard.description}</p>`}
      </header>
      <main class="${tiles.length > 0 && 'tiles'}">${tiles.length > 0 ? tiles : EMPTY}</main>
      ${!embedded && html`<footer class="foot">${describeZone(views)} Reload for the latest.</footer>`}
    </div>`;
  const styles = `${SHARED_STYLES}${INSIGHT_STYLES}${renderGrid(placed)}`;
  const isPending = views.some(({ result }) => result?.kind === 'failed' && result.reason === 'pending');
  return { html: await wrap(title, styles, body, embedded ? 'embedded' : '', isPending), styles };
}

/** Insights count days in the zone of their project. */
function describeZone(views: readonly TileView[]): string {
  const timeZone = views.find(({ insight }) => insight !== undefined)?.insight?.timeZone ?? 'UTC';
  return timeZone === 'UTC' ? 'Days and times are in UTC.' : `Days are those of the time zone ${timeZone}.`;
}

/** The same page for a dashboard that is not shared any more and for one that never was. */
export async function renderGonePage(): Promise<Page> {
  const title = 'This dashboard is not shared';
  const body = html`<main class="gone">
    <h1>${title}</h1>
    <p>The link may be incomplete, or sharing was turned off. Ask whoever sent it to you.</p>
  </main>`;
  return { html: await wrap(title, SHARED_STYLES, body, ''), styles: SHARED_STYLES };
}

/** When a page whose results are being computed loads itself again, in seconds. */
const RELOAD_AFTER_S = 10;

async function wrap(
  title: string,
  styles: string,
  body: Html,
  bodyClass: string,
  reload = false,
): Promise<string> {
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex, nofollow">
    ${reload && html`<meta http-equiv="refresh" content="${RELOAD_AFTER_S}">`}
    <title>${title}</title>
    <style>${raw(styles)}</style>
  </head>
  <body class="${bodyClass}">${body}</body>
</html>
`;
  return page.toString();
}

const EMPTY = html`<div class="empty"><h2>Nothing here yet</h2><p>This dashboard has no tiles.</p></div>`;

/** Positions of tiles on wide screens. In a style sheet, as the page's policy allows no style attributes. */
function renderGrid(placed: readonly PlacedTile[]): string {
  const rules = placed.map(
    ({ column, row, width, height }, place) =>
      `.t${place}{grid-column:${column}/span ${width};grid-row:${row}/span ${height}}`,
  );
  return `@media (min-width: 56rem){${rules.join('')}}`;
}

const COLORS = new Set(['white', 'blue', 'green', 'purple', 'black']);

function renderTile({ tile, insight, result }: TileView, name: string, dated: boolean): Html {
  const color = COLORS.has(tile.color ?? '') ? tile.color : '';
  if (tile.text) {
    return html`<section class="tile text ${name} ${color}">${raw(renderMarkdown(tile.text.body))}</section>`;
  }
  const dates = !dated && insight ? renderInsightDates(insight) : undefined;
  return html`
    <article class="tile ${name} ${color}">
      <h2>${insight ? getTitle(insight) : ''}</h2>
      ${dates && html`<p class="meta">${dates}</p>`}
      ${insight?.description && html`<p class="about">${insight.description}</p>`}
      <div class="result">${result && raw(renderInsight(result))}</div>
    </article>`;
}

const getTitle = ({ name, derivedName }: StoredInsight) => name || derivedName || 'Untitled insight';

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

const renderTime = (iso: string) => `${TIME.format(new Date(iso))} UTC`;
