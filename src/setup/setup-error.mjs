/** A set-up step that cannot go on: what is missing, why, and the one command that mends it. */
export class SetupError extends Error {
  constructor({ what, why, mend }) {
    super(`${what}\n  Why: ${why}\n  To mend it: ${mend}`);
    this.name = 'SetupError';
  }
}

/** The last lines of what a program printed, for a "why". */
export function lastLines(text, count = 5) {
  return text.trim().split('\n').slice(-count).join('\n       ');
}
