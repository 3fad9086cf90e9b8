import { isJsonObject, type JsonObject } from '../../http/json.ts';

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
 * Places tiles by their layouts, moved up as far as possible and down from each other, as the service's
 * clients do (the vertical compaction of react-grid-layout). No two tiles overlap, whatever the layouts are.
 * Returns them in reading order.
 */
export function placeTiles(layouts: readonly JsonObject[]): PlacedTile[] {
  const wishes = layouts
    .map(readWish)
    .sort((a, b) => a.y - b.y || (a.x ?? 0) - (b.x ?? 0) || a.index - b.index);
  const placed: PlacedTile[] = [];
  for (const wish of wishes)
    placed.push(wish.x === undefined ? placeFirst(placed, wish) : place(placed, wish, wish.x));
  return placed.sort((a, b) => a.row - b.row || a.column - b.column);
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

/** In the leftmost column in which it gets the highest position. */
function placeFirst(placed: readonly PlacedTile[], wish: Wish): PlacedTile {
  let best = place(placed, wish, 0);
  for (let x = 1; x + wish.width <= COLUMNS; x++) {
    const other = place(placed, wish, x);
    if (other.row < best.row) best = other;
  }
  return best;
}

/** In a column that is given, counted from 0. */
function place(placed: readonly PlacedTile[], { index, y, width, height }: Wish, x: number): PlacedTile {
  const column = x + 1;
  // From top to bottom, so that one that is moved down meets all those below.
  const above = placed
    .filter((tile) => tile.column < column + width && column < tile.column + tile.width)
    .sort((a, b) => a.row - b.row);
  const findBlocking = (row: number) => above.find((tile) => tile.row < row + height && row < getEnd(tile));
  const bottom = Math.max(1, ...placed.map(getEnd));
  const wanted = Math.min(bottom, y + 1);
  if (findBlocking(wanted) === undefined) {
    const row = Math.max(1, ...above.map(getEnd).filter((end) => end <= wanted));
    return { index, column, row, width, height };
  }
  let row = wanted;
  for (let tile = findBlocking(row); tile !== undefined; tile = findBlocking(row)) row = getEnd(tile);
  return { index, column, row, width, height };
}

/** The first row below a tile. */
const getEnd = ({ row, height }: Placement): number => row + height;
