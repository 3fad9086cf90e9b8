export type FailureReason =
  /** The filters are understood, but this service has no such insight. */
  | 'unsupported'
  /** The filters contradict themselves or cannot be read. */
  | 'invalid'
  /** It took longer than a tile may. */
  | 'too_slow'
  /** It is being computed, or will be when it is asked for again. */
  | 'pending'
  /** It would hold more series, intervals or events than a tile may. */
  | 'too_large';

/** Why an insight has no result. Thrown anywhere in this room; results.ts turns it into a failed result. */
export class InsightError extends Error {
  readonly reason: FailureReason;
  /** The field at fault, where it is one. */
  readonly attr: string | null;

  constructor(reason: FailureReason, message: string, attr: string | null = null) {
    super(message);
    this.name = 'InsightError';
    this.reason = reason;
    this.attr = attr;
  }
}

export const unsupported = (message: string, attr?: string) => new InsightError('unsupported', message, attr);
export const invalid = (message: string, attr?: string | null) => new InsightError('invalid', message, attr);
/** Says which parameter it is, where the error of a part of it only names that part. */
export function naming<T>(attr: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InsightError) throw new InsightError(error.reason, error.message, attr);
    throw error;
  }
}

/** Values in one result: some megabytes of JSON. */
const MAX_VALUES = 100_000;

/** Refuses a result of more values than one may hold, before it is computed. */
export function checkSize(valueCount: number): void {
  if (valueCount <= MAX_VALUES) return;
  throw tooLarge('This is too much for one insight: ask for fewer days, longer intervals or fewer values.');
}

export const tooLarge = (message: string) => new InsightError('too_large', message);

/** @default advice none */
export const tooSlow = (advice?: string) =>
  new InsightError(
    'too_slow',
    `This took too long: ask for fewer days, steps or values.${advice === undefined ? '' : ` ${advice}`}`,
  );

export const pending = () =>
  new InsightError('pending', 'It is being computed and will be here soon: load it again.');

export const tooManyAtOnce = () =>
  new InsightError('too_slow', 'Too many insights are asked for at once: try again soon.');
