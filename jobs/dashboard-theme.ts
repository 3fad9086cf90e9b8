/** bull-board's own colours of texts and states have a contrast of 2.1 to 4.4 with their grounds; these have 4.5 at least. */
export const DASHBOARD_THEME = {
  light: {
    'muted-foreground': '#4b5661',
    primary: '#0b574e',
    destructive: '#a51818',
    'destructive-foreground': '#ffffff',
    'status-failed': '#a51818',
    'status-completed': '#14602f',
    'status-waiting': '#804407',
    'status-waiting-children': '#963510',
    'status-prioritized': '#86198f',
    'status-active': '#1844bd',
    'status-delayed': '#6425cc',
    'status-paused': '#57514c',
  },
  dark: {
    'muted-foreground': '#a8b2be',
    'status-failed': '#f29a9a',
    'status-completed': '#5fd68b',
    'status-waiting': '#e0b955',
    'status-waiting-children': '#eba873',
    'status-prioritized': '#dfa0ea',
    'status-active': '#93bbfa',
    'status-delayed': '#bda6f5',
    'status-paused': '#b5b1aa',
    destructive: '#f29a9a',
  },
} as const;
