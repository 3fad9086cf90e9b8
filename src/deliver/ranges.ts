import type { Batch } from '../contract/delivery.ts';

/** Events `from` up to, without, `to` of a batch. Never empty. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export const countOf = (range: Range) => range.to - range.from;

const offsetAt = (batch: Batch, index: number) => batch.offsets[index] ?? 0;

/** The JSON texts of the range joined by commas: a view into the batch, not a copy. */
export const bodyOf = (batch: Batch, range: Range): Buffer =>
  batch.body.subarray(offsetAt(batch, range.from), offsetAt(batch, range.to) - 1);

const bytesOf = (batch: Batch, range: Range) => offsetAt(batch, range.to) - 1 - offsetAt(batch, range.from);

/** Two halves of a range of two or more events, as equal in events as can be. */
export function halvesByCount(range: Range): [Range, Range] {
  const middle = range.from + Math.ceil(countOf(range) / 2);
  return [
    { from: range.from, to: middle },
    { from: middle, to: range.to },
  ];
}

/** Two halves of a range of two or more events, as equal in bytes as can be; none is empty. */
export function halvesByBytes(batch: Batch, range: Range): [Range, Range] {
  const half = (offsetAt(batch, range.from) + offsetAt(batch, range.to)) / 2;
  let middle = range.from + 1;
  while (middle < range.to - 1 && offsetAt(batch, middle + 1) <= half) middle += 1;
  return [
    { from: range.from, to: middle },
    { from: middle, to: range.to },
  ];
}

/** Cuts a batch into ranges within both limits. An event beyond `bytes` gets a range of its own. */
export function rangesWithin(batch: Batch, limits: { events: number; bytes: number }): Range[] {
  const total = batch.offsets.length - 1;
  const ranges: Range[] = [];
  for (let from = 0; from < total; ) {
    let to = from + 1;
    while (to < total && to - from < limits.events && bytesOf(batch, { from, to: to + 1 }) <= limits.bytes) {
      to += 1;
    }
    ranges.push({ from, to });
    from = to;
  }
  return ranges;
}
