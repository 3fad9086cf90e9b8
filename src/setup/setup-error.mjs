/** A set-up step failed: what is missing, why it is needed, and the one command or change that fixes it. */
export class SetupError extends Error {
  constructor({ what, why, fix }) {
    super(`${what}\n  Why: ${why}\n  To fix it: ${fix}`);
    this.name = 'SetupError';
  }
}

/** The last lines of a program's output, for `why`. */
export function lastLines(text, count = 5) {
  return text.trim().split('\n').slice(-count).join('\n       ');
}
