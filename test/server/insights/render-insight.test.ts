import { describe, expect, it } from 'vitest';
import { INSIGHT_STYLES } from '../../../src/charts/styles.ts';
import type { FunnelStep } from '../../../src/server/insights/funnel/model.ts';
import type { LifecycleStatus } from '../../../src/server/insights/lifecycle/model.ts';
import type { InsightData } from '../../../src/server/insights/registry.ts';
import { renderInsight } from '../../../src/server/insights/render-insight.ts';
import type { InsightResult } from '../../../src/server/insights/results.ts';
import type { TrendSeries } from '../../../src/server/insights/trends/model.ts';

const computed = (data: InsightData): InsightResult => ({
  kind: 'computed',
  data,
  computedAt: '2024-01-10T12:00:00.000Z',
  isCached: false,
  filtersHash: 'x',
  nextRefreshAt: '2024-01-10T12:00:15.000Z',
});

const render = (data: InsightData) => renderInsight(computed(data));

/** What is left for a reader when all tags are gone. */
const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const days = ['2024-01-07', '2024-01-08', '2024-01-09', '2024-01-10', '2024-01-11'];

const series = (label: string, data: readonly number[], more: Partial<TrendSeries> = {}): TrendSeries => ({
  action: { order: 0 },
  label,
  count: data.reduce((sum, value) => sum + value, 0),
  data,
  labels: days,
  days: days.slice(0, data.length),
  ...more,
});

const total = (label: string, value: number, more: Partial<TrendSeries> = {}): TrendSeries =>
  series(label, [], { aggregated_value: value, count: value, ...more });

const step = (name: string, order: number, count: number, seconds: number | null): FunnelStep => ({
  action_id: name,
  name,
  custom_name: order === 0 ? 'Entered' : null,
  order,
  type: 'events',
  count,
  average_conversion_time: seconds,
  median_conversion_time: seconds,
});

const status = (name: LifecycleStatus, data: readonly number[]) => ({
  ...series(`View - ${name}`, data),
  action: {},
  status: name,
});

const HOSTILE = `<script>alert("1")</script>'&`;

const lines = (...result: TrendSeries[]): InsightData => ({
  insight: 'TRENDS',
  display: 'ActionsLineGraph',
  result,
});
const totals = (display: string, ...result: TrendSeries[]): InsightData => ({
  insight: 'TRENDS',
  display,
  result,
});
const retention: InsightData = {
  insight: 'RETENTION',
  result: [
    { date: '2024-01-07T00:00:00.000Z', label: 'Day 0', values: [{ count: 40 }, { count: 10 }] },
    { date: '2024-01-08T00:00:00.000Z', label: 'Day 1', values: [{ count: 0 }] },
  ],
};
const paths: InsightData = {
  insight: 'PATHS',
  result: [
    { source: `1_${HOSTILE}`, target: '2_/b_c', value: 3, average_conversion_time: 90_000 },
    { source: '2_/b_c', target: '3_/d', value: 1, average_conversion_time: 500 },
  ],
};
const lifecycle: InsightData = {
  insight: 'LIFECYCLE',
  result: [
    status('new', [1, 0]),
    status('returning', [0, 2]),
    status('resurrecting', [0, 0]),
    status('dormant', [-1, 0]),
  ],
};
const stickiness: InsightData = {
  insight: 'STICKINESS',
  result: [{ action: {}, label: HOSTILE, count: 3, data: [2, 1], days: [1, 2], labels: ['1 day', '2 days'] }],
};

const rates = (data: readonly number[], value: string) => ({
  count: data.length,
  data,
  days: ['2024-01-01', '2024-01-02', '2024-01-03'],
  labels: ['1-Jan-2024', '2-Jan-2024', '3-Jan-2024'],
  reached_from_step_count: [2, 2, 8],
  reached_to_step_count: [1, 0, 1],
  breakdown_value: [value],
});

const everything: Record<string, InsightData> = {
  lines: lines(series(HOSTILE, [1, 2, 3, 4, 5]), series('b', [5, 4, 3, 2, 1])),
  'many lines': lines(...Array.from({ length: 30 }, (_, index) => series(`${HOSTILE}${index}`, [index, 1]))),
  columns: totals('ActionsBar', series(HOSTILE, [1, -2, 3]), series('b', [1, 1, 1])),
  bars: totals('ActionsBarValue', total(HOSTILE, 5), total('b', 3)),
  pie: totals('ActionsPie', total(HOSTILE, 5), total('b', 15)),
  number: totals('BoldNumber', total(HOSTILE, 5), total('b', 15)),
  table: totals('ActionsTable', total(HOSTILE, 5), total('b', 15)),
  map: totals('WorldMap', total(HOSTILE, 5)),
  'funnel over time': {
    insight: 'FUNNELS',
    shown: 'trends',
    result: [rates([50, 0, 12.5], HOSTILE), rates([1, 2, 3], '')],
  },
  'times to convert': {
    insight: 'FUNNELS',
    shown: 'time_to_convert',
    result: {
      bins: [
        [0, 3],
        [60, 1],
      ],
      bin_width: 60,
      average_conversion_time: 45,
    },
  },
  funnel: { insight: 'FUNNELS', shown: 'steps', result: [step('a', 0, 50, null), step(HOSTILE, 1, 20, 90)] },
  'funnel by value': {
    insight: 'FUNNELS',
    shown: 'steps',
    result: [HOSTILE, ''].map((value) =>
      [step('a', 0, 50, null), step('b', 1, 20, 90)].map((one) => ({ ...one, breakdown_value: [value] })),
    ),
  },
  retention,
  paths,
  lifecycle,
  stickiness,
};

describe.each(Object.entries(everything))('%s', (_, data) => {
  const html = render(data);

  it('hold nothing that runs, loads or needs more than the styles', () => {
    expect(html).not.toMatch(
      /<script|<style|<img|<link|<iframe|javascript:|\sstyle=|\shref=|\ssrc=|\son\w+=|url\(/i,
    );
    expect(html).not.toContain('alert("1")');
  });

  it('are well-formed, every value in its place', () => {
    const open: string[] = [];
    for (const [, closing, name = '', rest = ''] of html.matchAll(/<(\/?)([a-z0-9]+)((?:\s[^<>]*)?)>/gi)) {
      if (rest.endsWith('/')) continue;
      if (closing) expect(open.pop()).toBe(name);
      else open.push(name);
    }
    expect(open).toEqual([]);
    expect(html).not.toMatch(/undefined|NaN|Infinity|\[object/);
  });

  it('use classes that the styles know', () => {
    const classes = [...html.matchAll(/class="([^"]+)"/g)].flatMap(([, names = '']) => names.split(' '));
    const known = new Set([...INSIGHT_STYLES.matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name));
    expect(
      classes.filter((name) => !known.has(name) && name !== 'insight-label' && name !== 'insight-shade-0'),
    ).toEqual([]);
  });
});

describe('a result for people', () => {
  it('has every number of a chart in a table', () => {
    const html = render(lines(series('Chrome', [1, 2, 3, 4, 12_345]), series('Safari', [5, 4, 3, 2, 0.125])));
    const [, table = ''] = /<table>([\s\S]*)<\/table>/.exec(html) ?? [];
    expect(textOf(table)).toBe(
      'Chrome Safari 7 Jan 2024 1 5 8 Jan 2024 2 4 9 Jan 2024 3 3 10 Jan 2024 4 2 11 Jan 2024 12,345 0.13',
    );
    expect(html).toContain('role="img" aria-label="Chart of Chrome, Safari from 7 Jan 2024 to 11 Jan 2024.');
  });

  it('tells what the table of a large chart leaves out', () => {
    const many = render(lines(...Array.from({ length: 13 }, (_, index) => series(`s${index}`, [1]))));
    expect(textOf(many)).toContain('Not shown: 1 more series.');
    const hours = Array.from(
      { length: 401 },
      (_, hour) => `2024-01-01 ${String(hour % 24).padStart(2, '0')}:00:00`,
    );
    const long = render(
      lines({
        ...series(
          'a',
          hours.map(() => 1),
        ),
        days: hours,
      }),
    );
    expect(textOf(long)).toContain('Not shown: 1 earlier rows.');
  });

  it('names lines where they end, with the custom name or the measure where that tells them apart', () => {
    const names = (...result: TrendSeries[]) =>
      [...render(lines(...result)).matchAll(/<text[^>]*>(<tspan.*?)<\/text>/g)].map(([, text = '']) =>
        textOf(text),
      );
    expect(names(series('$pageview', [1, 2], { action: { order: 0, custom_name: 'Visits' } }))).toEqual([
      '2 Visits',
    ]);
    expect(
      names(
        series('$pageview', [9, 9], { action: { order: 0 } }),
        series('$pageview', [1, 2], { action: { order: 1, math: 'weekly_active' } }),
      ),
    ).toEqual(['9 $pageview (total)', '2 $pageview (weekly…']);
    const compare = { compare: true } as const;
    expect(
      names(
        series('a', [9, 9], { ...compare, compare_label: 'current' }),
        series('a', [1, 2], { ...compare, compare_label: 'previous' }),
      ),
    ).toEqual(['9 now', '2 before']);
  });

  it('has the values of each day where a pointer finds them', () => {
    const text = render(lines(series('<a>', [1, 2000]), series('b', [3, 0.5])));
    const pointer = text.slice(text.indexOf('insight-pointer'), text.indexOf('insight-names'));
    expect(pointer.split('<p').slice(1).map(textOf)).toEqual([
      expect.stringMatching(/7 Jan 2024 &lt;a&gt; 1 b 3$/),
      expect.stringMatching(/8 Jan 2024 &lt;a&gt; 2,000 b 0\.5 /),
    ]);
    const days = Array.from({ length: 201 }, (_, index) => `2024-01-01 ${index}`);
    const long = render(
      lines({
        ...series(
          'a',
          days.map(() => 1),
        ),
        days,
      }),
    );
    expect(long).not.toContain('insight-pointer');
  });

  it('says what smoothed lines are, and draws those of few events as well', () => {
    const data: InsightData = {
      insight: 'TRENDS',
      display: 'ActionsLineGraph',
      smoothing: 7,
      result: [series('View', [0, 0, 0])],
    };
    expect(textOf(render(data))).toContain('Each point is the mean of 7 intervals');
    expect(render(data)).toContain('insight-line');
    const { smoothing: _, ...counted } = data;
    expect(render(counted)).not.toContain('insight-line');
  });

  it('leaves out years of nothing', () => {
    const days = Array.from(
      { length: 60 },
      (_, index) => `${2020 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}-01`,
    );
    const text = render(
      lines({
        ...series(
          'a',
          days.map((_, index) => (index === 5 ? 7 : 0)),
        ),
        days,
      }),
    );
    expect(textOf(text)).toContain('Nothing before 1 Jun 2020 or after 1 Jun 2020.');
    expect(text.match(/<tr>/g)).toHaveLength(4);
  });

  it('compares a number with the one before', () => {
    const compared = (now: number, before: number) =>
      textOf(
        render(
          totals(
            'BoldNumber',
            total('a', now, { compare_label: 'current' }),
            total('a', before, { compare_label: 'previous' }),
          ),
        ),
      );
    expect(compared(1500, 1000)).toBe('1,500 ▲ 50% from 1,000 in the period before');
    expect(compared(750, 1000)).toBe('750 ▼ 25% from 1,000 in the period before');
    expect(compared(5, 5)).toBe('5 as many as in the period before');
    expect(compared(5, 0)).toBe('5 0 in the period before');
    expect(textOf(render(totals('BoldNumber', total('a', 0))))).toBe('0');
  });

  it('shows shares of a whole', () => {
    expect(textOf(render(totals('ActionsPie', total('Chrome', 1), total('Safari', 3))))).toBe(
      'Chrome 1 25% Safari 3 75%',
    );
  });

  it('shows fifty totals, and how many more there are', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => total(`v${index}`, 100 - index));
    for (const display of ['ActionsBarValue', 'ActionsTable', 'ActionsPie', 'WorldMap']) {
      expect(textOf(render(totals(display, ...many(50))))).not.toContain('Not shown');
      const text = textOf(render(totals(display, ...many(52))));
      expect(text).toContain('v49');
      expect(text).not.toContain('v50');
      expect(text).toContain('Not shown: 2 more.');
    }
  });

  it('draws columns where there is room for them, and lines where not', () => {
    const rectangles = (count: number) => {
      const hours = Array.from({ length: count }, () => '2024-01-01 00:00:00');
      const html = render(
        totals('ActionsBar', {
          ...series(
            'a',
            hours.map(() => 1),
          ),
          days: hours,
        }),
      );
      return html.split('<rect').length - 1;
    };
    expect(rectangles(3000)).toBe(3000);
    expect(rectangles(3001)).toBe(0);
  });

  it('draws thirty lines at most', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => series(`s${index}`, [1, 2]));
    const drawn = (count: number) => render(lines(...many(count))).split('insight-line').length - 1;
    expect([drawn(29), drawn(30), drawn(31)]).toEqual([29, 30, 30]);
  });

  it('reads a funnel step by step', () => {
    expect(
      textOf(
        render({
          insight: 'FUNNELS',
          shown: 'steps',
          result: [step('a', 0, 50, null), step('b', 1, 20, 90)],
        }),
      ),
    ).toBe(
      '1. Entered 50 100% 2. b 20 40% 40% of the step before, after 1 min 30 s on average (median 1 min 30 s)',
    );
  });

  it('reads times to convert as persons by span of time', () => {
    const shown = everything['times to convert'];
    expect(shown && textOf(render(shown))).toBe('0 s to 1 min 3 1 min to 2 min 1 45 s on average.');
  });

  it('reads retention as shares of each row', () => {
    expect(textOf(render(retention))).toBe('People Day 1 7 Jan 2024 40 25% 8 Jan 2024 0');
  });

  it('reads paths step by step, addresses as they are', () => {
    expect(textOf(render(paths))).toBe(
      'Step 1 to 2 &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp; → /b_c 3 1 min 30 s Step 2 to 3 /b_c → /d 1 0.5 s',
    );
  });

  it('says when there is nothing to see, and why', () => {
    const nothing = 'No matching events in this time.';
    expect(textOf(render(lines(series('a', [0, 0]))))).toBe(nothing);
    expect(textOf(render(lines()))).toBe(nothing);
    expect(textOf(render({ insight: 'PATHS', result: [] }))).toBe(nothing);
    expect(textOf(render({ insight: 'FUNNELS', shown: 'steps', result: [step('a', 0, 0, null)] }))).toBe(
      nothing,
    );
    expect(textOf(render({ insight: 'FUNNELS', shown: 'steps', result: [] }))).toBe(nothing);
    const failed = {
      kind: 'failed',
      reason: 'unsupported',
      message: `No ${HOSTILE}.`,
      filtersHash: 'x',
    } as const;
    expect(renderInsight(failed)).toBe(
      '<p class="insight insight-none"><strong>This insight cannot be shown.</strong> No &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;.</p>',
    );
  });
});
