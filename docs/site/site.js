/* The search, and the menu of narrow windows. Pages work without it. */
(() => {
  const { root } = document.body.dataset;
  const form = document.querySelector('form[role=search]');
  const input = form.querySelector('input');
  const results = document.querySelector('#results');
  const SHOWN = 12;

  form.hidden = false;
  if (matchMedia('(max-width: 60rem)').matches) document.querySelector('.menu').open = false;

  /** @returns the sections that hold a word beginning with each of the terms, the best first */
  function find(text) {
    const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length === 0) return [];
    return globalThis.searchIndex
      .map(([page, title, slug, heading, body]) => {
        const scores = terms.map((term) => rate(term, title, 6) + rate(term, heading, 8) + rate(term, body, 1));
        const score = scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one, 0);
        return { page, title, slug, heading, body, score, terms };
      })
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, SHOWN);
  }

  function rate(term, text, weight) {
    const lower = text.toLowerCase();
    const at = lower.indexOf(term);
    if (at < 0) return 0;
    const beginsWord = at === 0 || /[^\p{L}\p{N}]/u.test(lower[at - 1]);
    return weight * (beginsWord ? 2 : 1);
  }

  function show() {
    const found = find(input.value);
    results.replaceChildren();
    results.hidden = input.value.trim() === '';
    if (results.hidden) return;
    if (found.length === 0) {
      results.append(element('p', `Nothing holds all of: ${input.value.trim()}`));
      return;
    }
    const list = document.createElement('ol');
    for (const { page, title, slug, heading, body, terms } of found) {
      const link = element('a', heading === title ? title : `${title}: ${heading}`);
      link.href = `${root}/${page}#${slug}`;
      const item = document.createElement('li');
      item.append(link, element('p', cut(body, terms)));
      list.append(item);
    }
    results.append(list);
  }

  /** What stands around the first term. */
  function cut(body, terms) {
    const at = Math.max(0, ...terms.map((term) => body.toLowerCase().indexOf(term)));
    const from = Math.max(0, at - 60);
    return `${from > 0 ? '…' : ''}${body.slice(from, from + 160)}${body.length > from + 160 ? '…' : ''}`;
  }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function close() {
    input.value = '';
    show();
  }

  input.addEventListener('input', show);
  results.addEventListener('click', (event) => {
    if (event.target.closest('a')) close();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea');
    if (event.key === '/' && !isTyping) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape') close();
    else if (['ArrowDown', 'ArrowUp'].includes(event.key) && !results.hidden) {
      const links = [...results.querySelectorAll('a')];
      const next = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
      event.preventDefault();
      (next < 0 ? input : links[Math.min(next, links.length - 1)])?.focus();
    }
  });
  // A link to a page with words to search for.
  const asked = new URLSearchParams(location.search).get('q');
  if (asked) {
    input.value = asked;
    show();
  }
})();
