export type Cell = string | number;

const numbers = new Intl.NumberFormat('en-US');

/** Thousands separated, alike on every machine. */
export const formatCount = (value: number): string => numbers.format(value);

/**
 * Rows below a header, columns two blanks apart: text to the left, numbers to the right. The first
 * column gives way, in its middle, when a line would be wider than `width`.
 */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  width: number,
): string[] {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatCount(cell) : cell)));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => measureWidth(row[column] ?? ''))),
  );
  const others = widths.slice(1).reduce((sum, next) => sum + next + GAP.length, MARGIN.length);
  widths[0] = Math.min(widths[0] ?? 0, Math.max(FIRST_MIN, width - others));

  const line = (cells: readonly string[], row: readonly Cell[] | undefined) =>
    (
      MARGIN +
      cells
        .map((cell, column) => {
          const room = widths[column] ?? 0;
          const text = column === 0 ? shortened(cell, room) : cell;
          const blanks = ' '.repeat(Math.max(0, room - measureWidth(text)));
          const toRight = row ? typeof row[column] === 'number' : typeof rows[0]?.[column] === 'number';
          return toRight ? blanks + text : text + blanks;
        })
        .join(GAP)
    ).trimEnd();
  return [line(header, undefined), ...texts.map((cells, index) => line(cells, rows[index]))];
}

const MARGIN = '  ';
const GAP = '  ';
const FIRST_MIN = 12;

/** Keeps both ends: file names differ at theirs. Never cuts a character in two. */
export function shortened(text: string, width: number): string {
  const clean = printable(text);
  if (measureWidth(clean) <= width) return clean;
  const characters = Array.from(clean);
  const tail = taken(characters.toReversed(), Math.floor((width - 1) / 2)).reverse();
  const head = taken(characters, width - 1 - measureWidth(tail.join('')));
  return `${head.join('')}…${tail.join('')}`;
}

/** What comes out of an export must not steer a terminal. */
export const printable = (text: string) => text.replace(/\p{Cc}/gu, '�');

function taken(characters: readonly string[], width: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += measureWidth(character);
    return used > width;
  });
  return characters.slice(0, end === -1 ? undefined : end);
}

/** Emoji and most East Asian characters take two columns, marks that sit on another one none. */
const WIDE = /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]/u;
const NONE = /[\p{M}\u200d]/u;

/** Columns of a terminal, nearly enough for aligning. */
export function measureWidth(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : NONE.test(character) ? 0 : 1;
  return width;
}
