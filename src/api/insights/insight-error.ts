import type { FailureReason } from '../insight-port.ts';

/** Why an insight has no result. Raised anywhere in this room and turned into a failed result by `compute`. */
export class InsightError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.name = 'InsightError';
    this.reason = reason;
  }
}

export const unsupported = (message: string) => new InsightError('unsupported', message);
export const invalid = (message: string) => new InsightError('invalid', message);
export const tooLarge = (message: string) => new InsightError('too_large', message);
