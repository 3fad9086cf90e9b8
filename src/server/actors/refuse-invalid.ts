import { invalidInput } from '../http/errors.ts';
import { InsightError } from '../insights/insight-error.ts';

/** What an insight would show in its place is a refusal (400) of a request for persons. */
export function toRefusal(error: unknown): unknown {
  return error instanceof InsightError ? invalidInput(error.message, error.attr) : error;
}

export function refuseInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw toRefusal(error);
  }
}
