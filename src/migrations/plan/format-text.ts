import { groupDigits } from '../../lib/group-digits.ts';

/** Numbers and texts as a terminal of 80 columns shows them. */
export const WIDTH = 80;

export const formatCount = groupDigits;

/** `1 file`, `1,200 files`. */
export const counted = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** The two largest units: `2 d 4 h`. */
export function formatMinutes(minutes: number): string {
  if (minutes < 1) return 'under a minute';
  const whole = Math.ceil(minutes);
  const [days, hours, rest] = [Math.floor(whole / 1440), Math.floor((whole % 1440) / 60), whole % 60];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return rest > 0 ? `${hours} h ${rest} min` : `${hours} h`;
  return `${rest} min`;
}

/** Two digits at most, and never a 0% that is not none. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.01) return '<0.01%';
  return `${Number(percent.toFixed(percent < 1 ? 2 : 1))}%`;
}

/** Control characters and text direction marks of foreign data must not steer the terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '·');

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

const countColumns = (character: string) => (WIDE.test(character) ? 2 : 1);
const measureWidth = (text: string) =>
  [...text].reduce((width, character) => width + countColumns(character), 0);

/** Makes a text exactly `width` columns wide, cut or padded. */
export function fitTo(text: string, width: number): string {
  const shown = printable(text);
  const missing = width - measureWidth(shown);
  if (missing >= 0) return shown + ' '.repeat(missing);
  let kept = '';
  let used = 1; // the ellipsis
  for (const character of shown) {
    used += countColumns(character);
    if (used > width) return `${kept}…${' '.repeat(width - used + countColumns(character))}`;
    kept += character;
  }
  return kept;
}

/** Breaks at spaces; words longer than a line are cut. */
export function wrap(
  text: string,
  first: string,
  next: string = ' '.repeat(first.length),
  width = WIDTH,
): string[] {
  const lines: string[] = [];
  let line = first;
  let hasWord = false;
  for (const word of printable(text).split(' ')) {
    if (hasWord && measureWidth(line) + 1 + measureWidth(word) > width) {
      lines.push(line);
      line = next;
      hasWord = false;
    }
    line += hasWord ? ` ${word}` : fitTo(word, Math.min(measureWidth(word), width - line.length));
    hasWord = true;
  }
  return [...lines, line];
}
