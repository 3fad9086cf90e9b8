/** Styles of the public page. Colours, sizes and the grid of tiles; what results need comes from insights. */
export const SHARED_STYLES = `
:root {
  color-scheme: light dark;
  --page: #f6f6f3;
  --card: #fff;
  --line: #e3e3dc;
  --text: #1d1f20;
  --quiet: #63686b;
  --blue: #2563eb;
  --green: #15803d;
  --purple: #7c3aed;
  --black: #1d1f20;
  --white: var(--line);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #141517;
    --card: #1d1f22;
    --line: #303338;
    --text: #e9e9e6;
    --quiet: #9da2a6;
    --blue: #6ea0ff;
    --green: #4ade80;
    --purple: #b197fc;
    --black: #cfd2d4;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 400 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
  -webkit-text-size-adjust: 100%;
  overflow-wrap: anywhere;
}
.page { max-width: 90rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; }
.embedded .page { padding: 1rem; }
h1 { margin: 0; font-size: 1.625rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; text-wrap: balance; }
h2 { margin: 0; font-size: 1rem; line-height: 1.35; font-weight: 600; }
.head { margin: 0 0 1.5rem; }
.embedded .head { margin-bottom: 1rem; }
.meta { margin: 0.375rem 0 0; color: var(--quiet); font-size: 0.8125rem; }
.meta span + span::before { content: "·"; margin: 0 0.5em 0 0.25em; }
.about { margin: 0.75rem 0 0; max-width: 65ch; white-space: pre-line; }
.tiles { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
.tile {
  display: flex;
  flex-direction: column;
  min-width: 0;
  padding: 1rem 1.125rem 1.125rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-top: 3px solid var(--accent, var(--line));
  border-radius: 0.5rem;
}
.white { --accent: var(--white); }
.blue { --accent: var(--blue); }
.green { --accent: var(--green); }
.purple { --accent: var(--purple); }
.black { --accent: var(--black); }
.tile .meta { margin-top: 0.125rem; }
.tile .about { margin-top: 0.375rem; color: var(--quiet); font-size: 0.875rem; }
.result { margin-top: 0.875rem; min-width: 0; max-height: 32rem; overflow: auto; flex: 1; }
.text > :first-child { margin-top: 0; }
.text > :last-child { margin-bottom: 0; }
.text h2 { font-size: 1.25rem; letter-spacing: -0.01em; }
.text h3, .text h4, .text h5, .text h6 { margin: 1em 0 0.25em; font-size: 1rem; }
.text p, .text ul, .text ol, .text pre, .text table, .text blockquote { margin: 0.5em 0; max-width: 75ch; }
.text a { color: var(--blue); text-underline-offset: 0.15em; }
.text code { font: 0.875em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.text pre { padding: 0.75rem; overflow-x: auto; background: var(--page); border-radius: 0.375rem; }
.text blockquote { margin-left: 0; padding-left: 0.875rem; border-left: 3px solid var(--line); color: var(--quiet); }
.text table { border-collapse: collapse; }
.text th, .text td { padding: 0.25rem 0; border-bottom: 1px solid var(--line); text-align: left; }
.text th + th, .text td + td { padding-left: 1.25rem; }
.text .text-right { text-align: right; }
.text .text-center { text-align: center; }
.text hr { border: 0; border-top: 1px solid var(--line); }
.empty { padding: 4rem 1rem; text-align: center; color: var(--quiet); border: 1px dashed var(--line); border-radius: 0.5rem; }
.empty h2, .gone h1 { color: var(--text); }
.foot { margin-top: 2rem; color: var(--quiet); font-size: 0.8125rem; }
.gone { text-wrap: balance; max-width: 36rem; margin: 0 auto; padding: 20vh 1.5rem; text-align: center; color: var(--quiet); }
@media (min-width: 56rem) {
  .tiles { grid-template-columns: repeat(12, minmax(0, 1fr)); grid-auto-rows: minmax(3.25rem, auto); }
}
@media (max-width: 40rem) {
  .page { padding: 1.25rem 1rem 2rem; }
  h1 { font-size: 1.375rem; }
}
@media print {
  :root { --page: #fff; }
  .tile { break-inside: avoid; }
  .result { max-height: none; }
}
`;
