import type { RecordCounts } from './progress.ts';

export const zeroCounts = (): RecordCounts => ({
  read: 0,
  delivered: 0,
  skipped: 0,
  duplicate: 0,
  rejected: 0,
});

export const addCounts = (a: RecordCounts, b: RecordCounts): RecordCounts => ({
  read: a.read + b.read,
  delivered: a.delivered + b.delivered,
  skipped: a.skipped + b.skipped,
  duplicate: a.duplicate + b.duplicate,
  rejected: a.rejected + b.rejected,
});

export const isBalanced = ({ read, delivered, skipped, duplicate, rejected }: RecordCounts): boolean =>
  read === delivered + skipped + duplicate + rejected;
