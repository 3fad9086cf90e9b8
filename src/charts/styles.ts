/**
 * Styles of what render-insight.ts gives. The colours of series have a contrast of 4.5 with white, and in
 * the dark with #1d1f22; tints of the page's own text colour do the rest.
 */
export const INSIGHT_STYLES = `
.insight {
  --insight-quiet: #5c6165;
  --insight-line: #e3e3dc;
  --insight-tint: 37 99 235;
  --insight-card: #fff;
  margin: 0;
  container-type: inline-size;
  font-size: 0.875rem;
  line-height: 1.4;
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
.insight-1 { color: #2563eb; }
.insight-2 { color: #c2410c; }
.insight-3 { color: #0f766e; }
.insight-4 { color: #a21caf; }
.insight-5 { color: #854d0e; }
.insight-6 { color: #4d7c0f; }
.insight-7 { color: #be123c; }
.insight-8 { color: #0e7490; }
.insight-rest { color: #6b7280; }
@media (prefers-color-scheme: dark) {
  .insight { --insight-quiet: #9da2a6; --insight-line: #35393e; --insight-tint: 110 160 255; --insight-card: #1d1f22; }
  .insight-1 { color: #7aa7ff; }
  .insight-2 { color: #fb923c; }
  .insight-3 { color: #2dd4bf; }
  .insight-4 { color: #e879f9; }
  .insight-5 { color: #eab308; }
  .insight-6 { color: #a3e635; }
  .insight-7 { color: #fb7185; }
  .insight-8 { color: #22d3ee; }
  .insight-rest { color: #9ca3af; }
}
.insight-plot { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; column-gap: 0.5rem; margin-top: 0.5em; }
.insight-y, .insight-x, .insight-note, .insight small, .insight-numbers summary { color: var(--insight-quiet); font-size: 0.75rem; }
.insight-y { display: flex; flex-direction: column; justify-content: space-between; height: 180px; text-align: right; line-height: 0; padding: 0; }
.insight-area { display: block; width: 100%; height: 180px; overflow: visible; }
.insight-x { grid-column: 2; overflow: visible; }
.insight-x text { fill: var(--insight-quiet); }
.insight-x line { stroke: var(--insight-line); }
.insight-area, .insight-pointer { grid-column: 2; grid-row: 1; }
.insight-pointer { display: flex; height: 180px; }
.insight-pointer div { position: relative; flex: 1 1 0; }
.insight-edges div:first-child, .insight-edges div:last-child { flex-grow: 0.5; }
.insight-pointer div:hover { background: rgb(var(--insight-tint) / 0.1); }
.insight-pointer p { display: none; position: absolute; z-index: 1; top: 0; left: calc(100% + 0.25rem); width: max-content; max-width: 14rem; margin: 0; padding: 0.375rem 0.5rem; border: 1px solid var(--insight-line); border-radius: 0.25rem; background: var(--insight-card); font-size: 0.75rem; pointer-events: none; }
.insight-pointer p.insight-before { left: auto; right: calc(100% + 0.25rem); }
.insight-pointer div:hover p { display: block; }
.insight-pointer span { display: block; }
.insight-pointer i { display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.375rem; border-radius: 50%; background: currentColor; }
.insight-grid { stroke: var(--insight-line); fill: none; }
.insight-line { stroke: currentColor; stroke-width: 2; stroke-linejoin: round; fill: none; }
.insight-line.insight-earlier { stroke-dasharray: 3 4; }
.insight-dot { stroke: currentColor; stroke-width: 6; stroke-linecap: round; fill: none; }
.insight-names { display: none; overflow: visible; font-size: 0.75rem; }
.insight-names text { fill: currentColor; }
.insight-last { font-weight: 650; }
.insight-legend { display: flex; flex-wrap: wrap; gap: 0.125rem 0.875rem; margin: 0 0 0.75rem; padding: 0; list-style: none; font-size: 0.75rem; }
.insight-key { display: inline-block; width: 0.875rem; margin-right: 0.375rem; vertical-align: 0.25em; border-top: 3px solid; }
.insight-key.insight-earlier { border-top-style: dotted; }
@container (min-width: 26rem) {
  .insight-names { display: block; }
  .insight-narrow { display: none; }
}
.insight-moved { display: none; }
@container (max-width: 26rem) { .insight-minor { display: none; } .insight-moved { display: inline; } }
.insight-numbers { margin-top: 0.5rem; }
.insight-numbers summary { cursor: pointer; width: fit-content; }
.insight-scroll { overflow-x: auto; }
.insight-numbers .insight-scroll { max-height: 20rem; overflow: auto; }
.insight table { border-collapse: collapse; min-width: 100%; font-size: 0.8125rem; overflow-wrap: normal; }
.insight th { font-weight: 500; text-align: left; }
.insight td, .insight thead th:not(:first-child) { text-align: right; }
.insight th, .insight td { padding: 0.3125rem 0.5rem; border-bottom: 1px solid var(--insight-line); vertical-align: top; }
.insight thead th { color: var(--insight-quiet); font-size: 0.75rem; vertical-align: bottom; }
.insight th:first-child, .insight thead td:first-child { padding-left: 0; min-width: 5.5rem; overflow-wrap: anywhere; }
.insight td { white-space: nowrap; }
.insight-bars { margin: 0; padding: 0; list-style: none; display: grid; gap: 0.625rem; }
.insight-row { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; }
.insight-value { font-weight: 600; white-space: nowrap; text-align: right; }
.insight-value small { font-weight: 400; margin-left: 0.25em; }
.insight-bar { display: block; margin-top: 0.1875rem; }
.insight-track { fill: var(--insight-line); }
.insight-note { margin: 0.1875rem 0 0; }
.insight-heading { margin: 1rem 0 0.5rem; font-size: 0.75rem; font-weight: 600; color: var(--insight-quiet); }
.insight-heading:first-child { margin-top: 0; }
.insight-totals { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; }
.insight-total { margin: 0; }
.insight-total strong { font-size: 2.5rem; line-height: 1.1; font-weight: 650; letter-spacing: -0.02em; }
.insight-total .insight-note { display: block; }
.insight-none { color: var(--insight-quiet); padding: 0.5rem 0; }
.insight-retention th, .insight-retention td { padding-inline: 0.375rem; }
.insight-retention tbody th, .insight-numbers tbody th { white-space: nowrap; }
.insight-shade-1 { background: rgb(var(--insight-tint) / 0.06); }
.insight-shade-2 { background: rgb(var(--insight-tint) / 0.11); }
.insight-shade-3 { background: rgb(var(--insight-tint) / 0.16); }
.insight-shade-4 { background: rgb(var(--insight-tint) / 0.21); }
.insight-shade-5 { background: rgb(var(--insight-tint) / 0.26); }
.insight-shade-6 { background: rgb(var(--insight-tint) / 0.31); }
.insight-shade-7 { background: rgb(var(--insight-tint) / 0.36); }
.insight-shade-8 { background: rgb(var(--insight-tint) / 0.41); }
.insight-shade-9 { background: rgb(var(--insight-tint) / 0.46); }
`;
