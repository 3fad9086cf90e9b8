/** Styles of the pages of operations. Pairs of text and ground have a contrast of 4.5 at least. */
export const OPERATIONS_STYLES = `
:root {
  color-scheme: light dark;
  --page: #f6f6f3; --card: #fff; --line: #d9d9d2; --text: #1d1f20; --quiet: #565b5f; --blue: #1d4fd7;
  --good: #116932; --bad: #b01c1c; --warn: #8a4b08; --shade: 29 79 215;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #141517; --card: #1d1f22; --line: #3a3e44; --text: #e9e9e6; --quiet: #a8adb1; --blue: #8ab1ff;
    --good: #5fd68b; --bad: #ff8f8f; --warn: #f3b562; --shade: 110 160 255;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 400 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
.page { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1.5rem 3rem; }
a { color: var(--blue); text-underline-offset: 0.15em; }
:focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; border-radius: 0.125rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.5rem; }
.top { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; align-items: baseline; margin-bottom: 1.25rem; font-size: 0.875rem; }
.top .age { margin-left: auto; color: var(--quiet); }
h1 { margin: 0; font-size: 1.625rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; }
h2 { margin: 0 0 0.75rem; font-size: 1rem; font-weight: 600; }
h3 { margin: 1.125rem 0 0.375rem; font-size: 0.9375rem; font-weight: 600; }
caption { padding: 0.5rem 0 0.25rem; text-align: left; color: var(--quiet); font-size: 0.8125rem; }
.quiet { color: var(--quiet); font-size: 0.8125rem; }
p { margin: 0.375rem 0; }
.badge { display: inline-block; padding: 0.0625rem 0.5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: 0.8125rem; font-weight: 600; color: var(--quiet); white-space: nowrap; }
.running, .finished, .active { color: var(--good); }
.interrupted, .stopped, .cancelled, .damaged { color: var(--bad); }
.paused, .unknown { color: var(--warn); }
.head { display: flex; flex-wrap: wrap; gap: 0.5rem 0.875rem; align-items: center; margin-bottom: 0.25rem; }
.reason { max-width: 75ch; }
.card { margin-top: 1rem; padding: 1rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; min-width: 0; }
.two { display: grid; gap: 0 1rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 60rem) { .two { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
.figures { display: grid; gap: 0.875rem 1.5rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); margin: 0; }
p + .figures, .figures + p { margin-top: 0.875rem; }
.figures dt { color: var(--quiet); font-size: 0.8125rem; }
.figures dd { margin: 0; font-size: 1.25rem; font-weight: 600; line-height: 1.3; }
.figures small { display: block; font-size: 0.8125rem; font-weight: 400; color: var(--quiet); }
.terms { margin: 0; }
.terms div { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: 0 0.75rem; padding: 0.25rem 0; border-bottom: 1px solid var(--line); }
.terms dt { color: var(--quiet); font-size: 0.8125rem; }
.terms dd { margin: 0; }
progress { width: 100%; height: 0.625rem; margin: 0.25rem 0 0.875rem; accent-color: var(--blue); }
form { display: inline; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0.875rem 0 0; }
button { font: inherit; font-weight: 600; min-height: 2.5rem; padding: 0.375rem 1rem; border: 1px solid var(--quiet); border-radius: 0.375rem; background: var(--card); color: var(--text); cursor: pointer; }
button.main { background: var(--blue); border-color: var(--blue); color: var(--card); }
.notice { margin: 1rem 0; padding: 0.75rem 1rem; border: 1px solid var(--warn); border-left-width: 4px; border-radius: 0.375rem; background: var(--card); max-width: 75ch; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; }
th, td { padding: 0.4375rem 0.625rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; }
thead th { color: var(--quiet); font-size: 0.8125rem; font-weight: 500; }
.n { text-align: right; white-space: nowrap; }
.compared th:first-child, .compared td:last-child { min-width: 7rem; }
.heat { width: auto; font-size: 0.75rem; overflow-wrap: normal; }
.heat th, .heat td { padding: 0.25rem 0.3125rem; }
.heat tbody th { max-width: 16rem; min-width: min(14rem, 40vw); font-weight: 400; overflow-wrap: anywhere; }
.heat td { text-align: right; white-space: nowrap; border: 1px solid var(--card); }
.heat thead th { white-space: nowrap; }
.h1 { background: rgb(var(--shade) / 0.08); } .h2 { background: rgb(var(--shade) / 0.16); } .h3 { background: rgb(var(--shade) / 0.24); } .h4 { background: rgb(var(--shade) / 0.32); } .h5 { background: rgb(var(--shade) / 0.4); }
.off { box-shadow: inset 0 -2px 0 var(--bad); }
code, pre { font: 0.8125rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0.375rem 0; padding: 0.5rem 0.625rem; overflow-x: auto; background: var(--page); border-radius: 0.25rem; white-space: pre-wrap; }
summary { cursor: pointer; padding: 0.25rem 0; }
ol.plain { margin: 0; padding: 0; list-style: none; }
ol.plain li { padding: 0.375rem 0; border-bottom: 1px solid var(--line); }
.schedules { min-width: 60rem; }
.schedules th, .schedules code { white-space: nowrap; overflow-wrap: normal; }
.schedules .when { white-space: nowrap; }
.schedules td:nth-child(3) { min-width: 13rem; }
.schedules td:last-child { min-width: 16rem; }
@media (max-width: 40rem) {
  .page { padding: 1rem 0.875rem 2rem; }
  h1 { font-size: 1.375rem; }
  .list thead { display: none; }
  .list tr { display: grid; grid-template-columns: 1fr auto; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  .list td, .list th { border: 0; padding: 0.125rem 0.25rem; text-align: left; }
  .list td:nth-child(even) { text-align: right; }
  .list td:empty { display: none; }
  .list td[data-before]::before { content: attr(data-before) ' '; color: var(--quiet); }
  .list td[data-of]::after { content: ' ' attr(data-of); color: var(--quiet); }
  .list td:last-child { grid-column: 1 / -1; text-align: left; }
  .schedules { min-width: 0; }
  .schedules th { white-space: normal; overflow-wrap: anywhere; }
  .schedules td.when { grid-column: 1 / -1; text-align: left; }
  .schedules td:nth-child(3), .schedules td:last-child { min-width: 0; }
  .compared thead { display: none; }
  .compared, .compared caption, .compared tbody { display: block; }
  .compared tr { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 0.75rem; padding: 0.375rem 0; border-bottom: 1px solid var(--line); }
  .compared th, .compared td { min-width: 0; padding: 0; border: 0; text-align: left; }
  .compared tr > :first-child, .compared tr > :last-child { flex: 0 0 100%; }
  .compared td[data-of]::before { content: attr(data-of) ' '; color: var(--quiet); }
}
`;
