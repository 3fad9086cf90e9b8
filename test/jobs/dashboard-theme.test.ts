import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DASHBOARD_THEME } from '../../jobs/dashboard-theme.ts';

/** Of WCAG, for text of any size. */
const AA = 4.5;
const GROUNDS = ['background', 'card', 'muted', 'sidebar', 'secondary'];
/** Badges are drawn on a tint of their own colour. */
const TINT = 0.15;

type Colour = readonly number[];

const styles = join(
  dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json')),
  'dist/static/css',
);
const sheet = readdirSync(styles)
  .filter((name) => name.endsWith('.css'))
  .map((name) => readFileSync(join(styles, name), 'utf8'))
  .join('');

const parse = (hex: string): Colour => {
  const digits =
    hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
  return (digits ?? []).map((pair) => Number.parseInt(pair, 16) / 255);
};

function findGrounds(selector: string): Colour[] {
  const block =
    sheet
      .split(`${selector}{`)
      .slice(1)
      .find((part) => part.includes('--background:')) ?? '';
  return GROUNDS.map((name) => {
    const found = new RegExp(`--${name}:(#[0-9a-f]+)`).exec(block)?.[1];
    if (found === undefined && name !== 'secondary') throw new Error(`bull-board has no --${name}`);
    return parse(found ?? '#ffffff');
  });
}

const luminance = (colour: Colour): number => {
  const [r = 0, g = 0, b = 0] = colour.map((part) =>
    part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a: Colour, b: Colour): number => {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const tint = (ground: Colour, by: Colour): Colour =>
  ground.map((part, index) => part * (1 - TINT) + (by[index] ?? 0) * TINT);

describe.each([
  ['light', ':root', DASHBOARD_THEME.light],
  ['dark', '.dark-mode', DASHBOARD_THEME.dark],
])('the %s colours of the queue dashboard', (_, selector, theme) => {
  const texts = Object.entries(theme).filter(([name]) => name !== 'destructive-foreground');
  it.each(texts)('%s is read on every ground of it', (_name, value) => {
    const colour = parse(value);
    const grounds = findGrounds(selector);
    for (const ground of grounds) expect(contrast(colour, ground)).toBeGreaterThan(AA);
    for (const ground of grounds) expect(contrast(colour, tint(ground, colour))).toBeGreaterThan(AA);
  });
});
