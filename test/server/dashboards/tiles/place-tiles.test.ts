import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COLUMNS, placeTiles } from '../../../../src/server/dashboards/tiles/place-tiles.ts';

const at = (x: unknown, y: unknown, w: unknown = 6, h: unknown = 5) => ({ sm: { x, y, w, h } });

test('tiles stand where their layouts say, in the order in which people read', () => {
  expect(placeTiles([at(6, 0), at(0, 5), at(0, 0)])).toEqual([
    { index: 2, column: 1, row: 1, width: 6, height: 5 },
    { index: 0, column: 7, row: 1, width: 6, height: 5 },
    { index: 1, column: 1, row: 6, width: 6, height: 5 },
  ]);
});

test('tiles move up to where there is room, and down from each other', () => {
  const rows = (layouts: Record<string, unknown>[]) => placeTiles(layouts).map(({ row }) => row);
  expect(rows([at(0, 1000)])).toEqual([1]);
  expect(rows([at(0, 0), at(3, 0)])).toEqual([1, 6]);
  expect(rows([at(0, 0, 12, 2), at(0, 7, 4), at(4, 9, 4)])).toEqual([1, 3, 3]);
});

test('a tile stands in a gap above one that was moved down, and not in one that another shuts off', () => {
  expect(placeTiles([at(0, 0), at(0, 0, 12, 4), at(6, 0)])).toEqual([
    { index: 0, column: 1, row: 1, width: 6, height: 5 },
    { index: 2, column: 7, row: 1, width: 6, height: 5 },
    { index: 1, column: 1, row: 6, width: 12, height: 4 },
  ]);
  expect(placeTiles([at(0, 0), at(0, 5, 12, 4), at(6, 9)])).toMatchObject([
    { row: 1 },
    { row: 6 },
    { row: 10 },
  ]);
});

test('tiles without a place come last, where there is room first', () => {
  expect(placeTiles([{}, at(0, 3, 6, 2), { sm: { x: null, y: null, w: 3 } }])).toEqual([
    { index: 1, column: 1, row: 1, width: 6, height: 2 },
    { index: 0, column: 7, row: 1, width: 6, height: 5 },
    { index: 2, column: 1, row: 3, width: 3, height: 5 },
  ]);
});

test('sizes and places that do not fit are brought within the grid', () => {
  expect(placeTiles([at(50, -3, 99, 0)])).toEqual([{ index: 0, column: 1, row: 1, width: 12, height: 1 }]);
  expect(placeTiles([at(11, 0, 6, 99)])).toMatchObject([{ column: 7, width: 6, height: 24 }]);
  expect(placeTiles([{ sm: 'x' }, { sm: { x: '1', w: Number.NaN } }])).toMatchObject([
    { column: 1 },
    { column: 7 },
  ]);
});

test('no two tiles overlap and none is outside, whatever the layouts say', () => {
  const number = fc.oneof(fc.integer({ min: -3, max: 30 }), fc.constant(undefined), fc.double());
  const layouts = fc.array(fc.record({ sm: fc.record({ x: number, y: number, w: number, h: number }) }), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(layouts, (wanted) => {
      const taken = new Set<string>();
      const placed = placeTiles(wanted);
      expect(placed.map(({ index }) => index).sort((a, b) => a - b)).toEqual(wanted.map((_, index) => index));
      for (const { column, row, width, height } of placed) {
        for (let x = column; x < column + width; x++) {
          for (let y = row; y < row + height; y++) {
            expect(x >= 1 && x <= COLUMNS && y >= 1).toBe(true);
            expect(taken.has(`${x},${y}`)).toBe(false);
            taken.add(`${x},${y}`);
          }
        }
      }
    }),
  );
});
