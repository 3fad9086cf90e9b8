import { isJsonObject, type JsonObject } from '../json.ts';

/** Columns of the widest layout (`sm`), in which clients arrange tiles. */
export const COLUMNS = 12;
const DEFAULT_WIDTH = 6;
const DEFAULT_HEIGHT = 5;
const MAX_HEIGHT = 24;

/** Cells of a grid, counted from 1. */
export interface Placement {
  readonly column: number;
  readonly row: number;
  readonly width: number;
  readonly height: number;
}

interface Wish {
  readonly index: number;
  /** Undefined: wherever there is room first. */
  readonly x: number | undefined;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedTile extends Placement {
  /** Place in the list that was given. */
  readonly index: number;
}

/**
 * Puts tiles where their layouts say, moved up as far as there is room, as clients show them. Whatever the
 * layouts say, no two tiles overlap. In the order in which people read them.
 */
export function placeTiles(layouts: readonly JsonObject[]): PlacedTile[] {
  const wishes = layouts
    .map(readWish)
    .sort((a, b) => a.y - b.y || (a.x ?? 0) - (b.x ?? 0) || a.index - b.index);
  const heights = new Array<number>(COLUMNS).fill(0);
  return wishes.map(({ index, x, width, height }) => {
    const column = x ?? roomiest(heights, width);
    const row = topOf(heights, column, width);
    heights.fill(row + height, column, column + width);
    return { index, column: column + 1, row: row + 1, width, height };
  });
}

function readWish(layouts: JsonObject, index: number): Wish {
  const layout = layouts['sm'];
  const fields = isJsonObject(layout) ? layout : {};
  const width = whole(fields['w'], 1, COLUMNS) ?? DEFAULT_WIDTH;
  const height = whole(fields['h'], 1, MAX_HEIGHT) ?? DEFAULT_HEIGHT;
  const x = whole(fields['x'], 0, COLUMNS - width);
  // Clients write null or Infinity for "below all others".
  const y = whole(fields['y'], 0, Number.MAX_SAFE_INTEGER) ?? Number.MAX_SAFE_INTEGER;
  return { index, x, y, width, height };
}

/** The nearest whole number in the range; undefined for what is no number. */
function whole(value: unknown, least: number, most: number): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Math.min(most, Math.max(least, Math.round(value)));
}

/** The leftmost of the columns where a tile of this width comes to stand highest. */
function roomiest(heights: readonly number[], width: number): number {
  let best = 0;
  for (let column = 1; column + width <= COLUMNS; column++) {
    if (topOf(heights, column, width) < topOf(heights, best, width)) best = column;
  }
  return best;
}

const topOf = (heights: readonly number[], column: number, width: number) =>
  Math.max(...heights.slice(column, column + width));
