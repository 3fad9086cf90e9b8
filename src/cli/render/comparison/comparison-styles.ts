/** Beside the styles of a plan: amber is explained, red is not. Each row also says so in words. */
export const COMPARISON_STYLES = `
:root { --explained: #92580b; --explained-tint: #fdf3dd; --alarm-tint: #fdeceb; --good-tint: #e6f5ea; }
@media screen and (prefers-color-scheme: dark) {
  :root { --explained: #f0b866; --explained-tint: #35290f; --alarm-tint: #3b1f1d; --good-tint: #16301f; }
}
.verdict { margin: 1rem 0 0; padding: 0.75rem 1.125rem; border-radius: 0.375rem; border-left: 4px solid; font-weight: 600; }
.verdict.equal { color: #12702f; background: var(--good-tint); }
.verdict.unexplained { color: var(--alarm); background: var(--alarm-tint); }
.sums { grid-template-columns: repeat(auto-fill, minmax(min(100%, 14rem), 1fr)); margin-bottom: 0.75rem; }
.sums dd { font-size: 1.25rem; font-weight: 650; }
.sums small { display: block; font-size: 0.8125rem; font-weight: 400; }
.sums .unexplained dd { color: var(--alarm); }
.sums .explained dd { color: var(--explained); }
.compared tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 6.5rem; max-width: 20rem; padding-left: 0.5rem; border-left: 3px solid transparent; }
.scroll .compared td:nth-child(n+2):nth-child(-n+4) { text-align: right; white-space: nowrap; min-width: 4rem; }
.compared thead th:nth-child(n+2):nth-child(-n+4) { text-align: right; }
.scroll .compared td:nth-child(5) { min-width: 12rem; }
.compared .explained { background: var(--explained-tint); }
.compared .explained th { border-left-color: var(--explained); }
.compared .unexplained { background: var(--alarm-tint); }
.compared .unexplained th { border-left-color: var(--alarm); }
.compared .unexplained td:nth-child(4), .compared .unexplained td:nth-child(5) { color: var(--alarm); font-weight: 600; }
.all-equal { margin: 0; color: var(--good); }
@media screen and (prefers-color-scheme: dark) { .verdict.equal { color: var(--good); } }
@media screen and (max-width: 40rem) {
  .compared thead { display: none; }
  .compared, .compared tbody, .scroll .compared td { display: block; }
  .scroll .compared tr { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 0.75rem; padding: 0.375rem 0.5rem; border-bottom: 1px solid var(--line); border-left: 3px solid transparent; }
  .scroll .compared tr.explained { border-left-color: var(--explained); }
  .scroll .compared tr.unexplained { border-left-color: var(--alarm); }
  .scroll .compared tr > * { padding: 0; border: 0; min-width: 0; max-width: none; }
  .scroll .compared tr > :first-child, .scroll .compared tr > :last-child { flex: 0 0 100%; }
  .scroll .compared td:nth-child(n+2):nth-child(-n+4) { text-align: left; }
  .compared td[data-of]::before { content: attr(data-of) ' '; color: var(--quiet); font-size: 0.8125rem; font-weight: 400; }
}
`;
