import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import { renderOverTime } from '../../../charts/over-time.ts';
import { counted, formatCount, printable } from '../../../migrations/plan/format-text.ts';
import type { Cause, Comparison, Row, Table } from '../../../migrations/verify/comparison.ts';
import type { Verification } from '../../../migrations/verify/verify.ts';
import {
  CAUSES,
  describeRow,
  judge,
  nameSides,
  pickRows,
  SUBJECTS,
  signed,
  titleOf,
} from '../../../migrations/verify/words.ts';
import { listDays } from '../plan-page/render-plots.ts';
import { renderMore, section } from '../plan-page/section.ts';
import { wrapPage } from '../plan-page/wrap-page.ts';
import { COMPARISON_STYLES } from './comparison-styles.ts';
import { renderVerdict } from './render-comparison.ts';

const ROWS = 500;

/** Old against new as one page without scripts or other files. Shows names of events, and no values of records. */
export function renderComparisonPage(verification: Verification, madeAt: Date): Promise<string> {
  const { migration, replays, destination, comparisons, synthetic, notes, unexplained } = verification;
  const title = `${printable(migration)}: old against new`;
  return wrapPage(
    title,
    html`<header>
      <h1>${title}</h1>
      <p class="quiet">${printable(destination)}${replays.length > 0 ? `, with ${replays.join(', ')}` : ''}. Made ${madeAt.toISOString().replace('T', ' ').slice(0, 16)} UTC by <code>backhaul verify</code>.</p>
    </header>
    <p class="verdict ${unexplained > 0 ? 'unexplained' : 'equal'}">${renderVerdict(verification)}</p>
    <main>
      ${comparisons.map(renderOne)}
      ${renderLegend(comparisons)}
      ${
        synthetic || notes.length > 0
          ? section(
              'Notes',
              html`${synthetic ? html`<p>About persons and groups, ${formatCount(synthetic.sent)} events were sent and ${formatCount(synthetic.held)} are there. They stem from no single record: fewer than were sent are a difference.</p>` : ''}${notes.map((note) => html`<p>${note}</p>`)}`,
            )
          : ''
      }
    </main>`,
    COMPARISON_STYLES,
  );
}

function renderOne(comparison: Comparison): Html {
  const { total, tables } = comparison;
  const [old, now] = nameSides(comparison);
  const days = tables.find(({ by }) => by === 'day');
  return section(
    titleOf(comparison),
    html`<dl class="sums">
        <div><dt>${old}</dt><dd>${formatCount(total.old)}</dd></div>
        <div><dt>${now}</dt><dd>${formatCount(total.now)}</dd></div>
        <div class="${judge(total)}"><dt>difference</dt><dd>${signed(total.now - total.old)}<small>${printable(describeRow(total))}</small></dd></div>
      </dl>
      ${days ? renderPlot(comparison, days.rows) : ''}
      ${tables.map((table) => renderRows(comparison, table))}`,
  );
}

function renderPlot(comparison: Comparison, rows: readonly Row[]): Html | string {
  const byDay = new Map(rows.map((row) => [row.key, row]));
  const known = [...byDay.keys()].filter((day) => /^\d{4}-\d\d-\d\d$/.test(day)).toSorted();
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || first === last) return '';
  const [old, now] = nameSides(comparison);
  const days = listDays(first, last);
  const toValues = (pick: (row: Row) => number) => days.map((day) => toNumber(byDay.get(day), pick));
  return renderOverTime(
    'lines',
    [
      { name: old, values: toValues((row) => row.old), color: 'insight-2', isEarlier: true },
      { name: now, values: toValues((row) => row.now), color: 'insight-1', isEarlier: false },
    ],
    days,
  );
}

const toNumber = (row: Row | undefined, pick: (row: Row) => number): number => (row ? pick(row) : 0);

function renderRows(comparison: Comparison, { by, rows }: Table): Html {
  const { title, column } = SUBJECTS[by];
  const { shown, more } = pickRows(rows, ROWS);
  const equal = rows.filter((row) => judge(row) === 'equal').length;
  const [old, now] = nameSides(comparison, by);
  const header = [column, old, now, 'difference', 'why'];
  return html`<h3>${title}</h3>
    ${
      shown.length === 0
        ? html`<p class="all-equal">${counted(rows.length, 'row')}, all equal.</p>`
        : html`<div class="scroll" tabindex="0"><table class="compared">
      <thead><tr>${header.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${shown.map(
        (row) =>
          html`<tr class="${judge(row)}"><th scope="row">${printable(row.key)}</th><td data-of="${old}">${formatCount(row.old)}</td><td data-of="${now}">${formatCount(row.now)}</td><td data-of="difference">${signed(row.now - row.old)}</td><td>${printable(describeRow(row))}</td></tr>`,
      )}</tbody>
    </table></div>${renderMore(more, 'difference')}${equal > 0 ? html`<p class="quiet">${counted(equal, 'equal row')} not shown.</p>` : ''}`
    }`;
}

function renderLegend(comparisons: readonly Comparison[]): Html | string {
  const used = new Set<Cause>(
    comparisons.flatMap(({ total, tables }) =>
      [total, ...tables.flatMap(({ rows }) => rows)].flatMap(({ causes }) =>
        causes.map(({ cause }) => cause),
      ),
    ),
  );
  if (used.size === 0) return '';
  return section(
    'What explains the differences',
    html`<dl>${[...used].map((cause) => html`<div><dt>${CAUSES[cause].short}</dt><dd>${CAUSES[cause].why}</dd></div>`)}</dl>`,
  );
}
