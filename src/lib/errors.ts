/** Who must act, and whether trying again can help. */
export type Retry = 'never' | 'backoff' | { readonly afterMs: number };

/** Base of every error that Backhaul raises on purpose. Anything else is a bug of ours. */
export class BackhaulError extends Error {
  readonly code: string;
  readonly retry: Retry;

  constructor(code: string, message: string, retry: Retry, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.retry = retry;
  }
}

/** The operator must change a flag, a key, a manifest or a bucket: exit 2. */
export class ConfigError extends BackhaulError {
  constructor(message: string, cause?: unknown) {
    super('config', message, 'never', cause);
  }
}

/** A source file is broken or gone: the message says which, where and what to do. Exit 1. */
export class SourceError extends BackhaulError {
  constructor(message: string, cause?: unknown) {
    super('source', message, 'never', cause);
  }
}

/** The plan breaks the contract's import rules: exit 4. */
export class PreflightError extends BackhaulError {
  constructor(message: string) {
    super('preflight', message, 'never');
  }
}

/** The other side is slow or down; retried briefly by the sender, later by the queue. */
export class UnavailableError extends BackhaulError {
  constructor(message: string, retry: 'backoff' | { readonly afterMs: number } = 'backoff', cause?: unknown) {
    super('unavailable', message, retry, cause);
  }
}

/** This process cannot do the work, for what it is started with: others may be able. */
export class UnableError extends UnavailableError {}

/** Work was stopped on purpose. */
export class StopError extends BackhaulError {
  /** What is kept and told of it elsewhere, without commands and settings of one machine. */
  readonly note: string;

  constructor(message: string, note: string) {
    super('stopped', message, 'never');
    this.note = note;
  }
}

/** The destination needs the operator (wrong key, forbidden project): the migration pauses. */
export class PausedError extends BackhaulError {
  constructor(message: string) {
    super('paused', message, 'never');
  }
}

/** A newer writer has taken over this part (invariant I5): stop without a trace. */
export class FencedOutError extends BackhaulError {
  constructor(message: string) {
    super('fenced_out', message, 'never');
  }
}

export function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Text of a source in a message: control characters as escapes, as they would steer a terminal, and so those that
 * turn the direction of what follows. Line feeds and tabs stay.
 */
export const escapeControls = (text: string): string =>
  text.replace(
    CONTROLS,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );

const CONTROLS = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
