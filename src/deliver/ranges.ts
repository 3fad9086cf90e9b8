import type { Batch } from '../contract/delivery.ts';

/** Events `from` up to, but not including, `to` of a batch. Never empty. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export const countEvents = (range: Range) => range.to - range.from;

const getOffset = (batch: Batch, index: number) => batch.offsets[index] ?? 0;

/** The JSON texts of the range joined by commas: a view into the batch, not a copy. */
export const sliceBody = (batch: Batch, range: Range): Buffer =>
  batch.body.subarray(getOffset(batch, range.from), getOffset(batch, range.to) - 1);

/** A batch of one event of another: a copy, because a view would keep the whole batch in memory. */
export function copyEvent(batch: Batch, index: number): Batch {
  const body = Buffer.concat([sliceBody(batch, { from: index, to: index + 1 }), COMMA]);
  return { body, offsets: [0, body.length] };
}

const COMMA = Buffer.from(',');

const countBytes = (batch: Batch, range: Range) =>
  getOffset(batch, range.to) - 1 - getOffset(batch, range.from);

/** Two halves of a range of two or more events, as equal in events as possible. */
export function halveByCount(range: Range): [Range, Range] {
  const middle = range.from + Math.ceil(countEvents(range) / 2);
  return [
    { from: range.from, to: middle },
    { from: middle, to: range.to },
  ];
}

/** Two halves of a range of two or more events, as equal in bytes as possible; neither is empty. */
export function halveByBytes(batch: Batch, range: Range): [Range, Range] {
  const half = (getOffset(batch, range.from) + getOffset(batch, range.to)) / 2;
  let middle = range.from + 1;
  while (middle < range.to - 1 && getOffset(batch, middle + 1) <= half) middle += 1;
  return [
    { from: range.from, to: middle },
    { from: middle, to: range.to },
  ];
}

/** The start of a range that is within both limits; one event at least, whatever its bytes. */
export function takeStart(batch: Batch, range: Range, limits: { events: number; bytes: number }): Range {
  let to = range.from + 1;
  while (
    to < range.to &&
    to - range.from < limits.events &&
    countBytes(batch, { from: range.from, to: to + 1 }) <= limits.bytes
  ) {
    to += 1;
  }
  return { from: range.from, to };
}
