'use strict';
/* Runs in a page. Each function lists what is wrong with what can be seen, in words. */

/** Elements with text of their own that can be seen, with the boxes of its lines. */
const listTexts = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const of = node.parentElement;
    if (node.data.trim() === '' || of.closest('script, style, noscript')) continue;
    if (!of.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter(({ width, height, right }) => width > 1 && height > 1 && right > 0);
    if (boxes.length > 0) found.push({ of, text: node.data.trim().slice(0, 40), boxes });
  }
  return found;
};

/** Channels from 0 to 255, and the share of what shows. */
const toColor = (text) => {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return text.startsWith('rgb') ? { rgb: [red, green, blue], alpha } : { rgb: [0, 0, 0], alpha: 0 };
};
const over = (front, back) => front.rgb.map((channel, index) => channel * front.alpha + back[index] * (1 - front.alpha));

const findGround = (element) => {
  const layers = [];
  for (let one = element; one; one = one.parentElement) layers.push(toColor(getComputedStyle(one).backgroundColor));
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  return layers.reduceRight((back, front) => over(front, back), dark ? [18, 18, 18] : [255, 255, 255]);
};

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
const computeLuminance = (rgb) => {
  const [red, green, blue] = rgb.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const listFaint = () =>
  listTexts().flatMap(({ of, text }) => {
    const style = getComputedStyle(of);
    const ground = findGround(of);
    const front = over(toColor(of instanceof SVGElement ? style.fill : style.color), ground);
    const [dark, light] = [computeLuminance(front), computeLuminance(ground)].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    return contrast >= 4.5 ? [] : [`${text}: contrast ${contrast.toFixed(2)}`];
  });

/** What of a box is seen: boxes around it that scroll or cut off hide the rest. */
const toSeen = (of, { left, right, top, bottom }) => {
  const seen = { left, right, top, bottom };
  for (let one = of; one && one !== document.documentElement; one = one.parentElement) {
    if (one instanceof SVGElement || getComputedStyle(one).overflowX === 'visible') continue;
    const frame = one.getBoundingClientRect();
    seen.left = Math.max(seen.left, frame.left);
    seen.right = Math.min(seen.right, frame.right);
    seen.top = Math.max(seen.top, frame.top);
    seen.bottom = Math.min(seen.bottom, frame.bottom);
  }
  return seen;
};

/** Texts that lie on each other. */
const listOverlaps = () => {
  const boxes = listTexts().flatMap(({ of, text, boxes: all }) =>
    all.map((box) => ({ text, ...toSeen(of, box) })).filter((box) => box.left < box.right && box.top < box.bottom),
  );
  const MOST_PX = 2; // lines of text touch each other
  const lies = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > MOST_PX &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > MOST_PX;
  return boxes.flatMap((one, index) =>
    boxes.slice(index + 1).flatMap((other) => (lies(one, other) ? [`${one.text} / ${other.text}`] : [])),
  );
};

/** Texts of which a part is outside of the page, or cut off by a box that does not scroll. */
const listClipped = () =>
  listTexts().flatMap(({ of, text, boxes }) => {
    const clips = [];
    for (let one = of; one; one = one.parentElement) {
      const { overflowX } = getComputedStyle(one);
      if (overflowX === 'auto' || overflowX === 'scroll') return [];
      if (overflowX === 'hidden' || overflowX === 'clip') clips.push(one.getBoundingClientRect());
    }
    const most = Math.min(document.documentElement.clientWidth, ...clips.map(({ right }) => right));
    return boxes.some(({ right, left }) => right > most + 1 || left < -1) ? [`${text}: cut off`] : [];
  });

const listSideways = () => {
  const { scrollWidth, clientWidth } = document.documentElement;
  return scrollWidth > clientWidth ? [`${scrollWidth} px in ${clientWidth}`] : [];
};

globalThis.listFlaws = () => [...listFaint(), ...listOverlaps(), ...listClipped(), ...listSideways()];

/** Which element has the focus, and whether that can be seen. */
globalThis.describeFocus = () => {
  const one = document.activeElement;
  if (!one || one === document.body) return undefined;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const { width, height, left } = one.getBoundingClientRect();
  const shows = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && width > 0 && height > 0 && left >= 0;
  return { name: (one.getAttribute('aria-label') ?? one.textContent).trim().slice(0, 60), shows };
};
