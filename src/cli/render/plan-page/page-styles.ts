/** Styles of the page of a plan; those of its plots come from charts. */
export const PAGE_STYLES = `
:root { color-scheme: light dark; --page: #f6f6f3; --card: #fff; --line: #e3e3dc; --text: #1d1f20; --quiet: #5c6165; --alarm: #b42318; --good: #15803d; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #141517; --card: #1d1f22; --line: #35393e; --text: #e9e9e6; --quiet: #9da2a6; --alarm: #ff8f84; --good: #4ade80; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 400 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
.page { max-width: 64rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
h1 { margin: 0; font-size: 1.625rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; }
h2 { margin: 0 0 0.75rem; font-size: 1.0625rem; font-weight: 650; }
h3 { margin: 1rem 0 0.375rem; font-size: 0.9375rem; font-weight: 600; }
h4 { margin: 0 0 0.25rem; font-size: 0.8125rem; font-weight: 600; color: var(--quiet); }
section { margin: 1rem 0 0; padding: 1rem 1.125rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; }
.quiet { margin: 0.5rem 0 0; color: var(--quiet); font-size: 0.8125rem; }
.problem { margin: 1rem 0 0; padding: 0.875rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--alarm); border-radius: 0.375rem; font: inherit; white-space: pre-wrap; }
.quiet code { white-space: nowrap; }
code { padding: 0 0.25em; background: var(--page); border-radius: 0.25rem; font: 0.875em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
dl { margin: 0; display: grid; gap: 0.5rem 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); }
dt { color: var(--quiet); font-size: 0.8125rem; }
dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; min-width: 100%; font-size: 0.875rem; }
th, td { padding: 0.3125rem 0.75rem 0.3125rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--quiet); font-weight: 500; font-size: 0.8125rem; }
.scroll table { overflow-wrap: normal; }
.scroll td { max-width: 32rem; overflow-wrap: break-word; }
.scroll td.long { min-width: 16rem; }
.pair { display: grid; gap: 1rem 2rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 48rem) { .pair { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.fields { table-layout: fixed; width: 100%; }
.fields th { width: 40%; font-weight: 500; color: var(--quiet); }
.checks { margin: 0; padding: 0; list-style: none; display: grid; gap: 0.5rem; }
.checks li { padding-left: 1.75rem; text-indent: -1.75rem; }
.checks span { display: inline-block; width: 1.75rem; text-indent: 0; font-weight: 650; }
.checks .done span { color: var(--good); }
.checks .warning span { color: var(--alarm); }
@media print {
  :root { color-scheme: light; --page: #fff; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .page { max-width: none; padding: 0; }
  .scroll { overflow: visible; }
  .scroll td, .scroll td.long { min-width: 0; max-width: none; overflow-wrap: anywhere; }
  tr, li, .insight, h1, h2, h3, h4 { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
}
`;
