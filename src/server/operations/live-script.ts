/**
 * Replaces the parts of a page that have changed, as the server renders them. Without it the page loads itself
 * again. What a reader has opened stays open, and the focus stays where it is. A page that nobody sees listens to
 * nothing: browsers keep pages that were left, and open six connections at most.
 */
export const LIVE_SCRIPT = `'use strict';
const age = document.getElementById('age');
age.tabIndex = -1;
/* In place of a link, which may have the focus. */
const say = (text) => {
  const hasFocus = age.contains(document.activeElement);
  age.textContent = text;
  if (hasFocus) age.focus({ preventScroll: true });
};
let source;
const stop = () => { source?.close(); source = undefined; };
const follow = () => {
  stop();
  if (document.hidden) return;
  source = new EventSource(document.body.dataset.live);
  source.onopen = () => say('Live');
  source.onerror = () => say(source?.readyState === EventSource.CLOSED ? 'Not live; load the page again' : 'Connection lost; trying again');
  source.addEventListener('away', () => say('Not up to date: what it is read from cannot be reached'));
  source.addEventListener('live', () => say('Live'));
  source.onmessage = update;
};
const update = (event) => {
  for (const [id, markup] of Object.entries(JSON.parse(event.data))) {
    const part = document.getElementById(id);
    if (part === null) continue;
    const opened = [...part.querySelectorAll('details')].map((one) => one.open);
    const focused = part.contains(document.activeElement) ? [...part.querySelectorAll('a,button,summary,[tabindex]')].indexOf(document.activeElement) : -1;
    part.innerHTML = markup;
    part.querySelectorAll('details').forEach((one, index) => { one.open = opened[index] ?? false; });
    if (focused >= 0) part.querySelectorAll('a,button,summary,[tabindex]')[focused]?.focus({ preventScroll: true });
  }
};
document.addEventListener('visibilitychange', follow);
addEventListener('pagehide', stop);
addEventListener('pageshow', follow);
`;
