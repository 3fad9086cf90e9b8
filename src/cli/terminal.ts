import { styleText } from 'node:util';
import { escapeControls } from '../lib/errors.ts';
import { stringifyJson } from '../lib/json/stringify-json.ts';

/** stdout is for data, stderr for everything that a person reads meanwhile. */
export interface Terminal {
  readonly json: boolean;
  /** A document on stdout: JSON with --json, else the given text. Throws OutputEndedError where an earlier one failed. */
  data(document: unknown, text: () => string): void;
  /** A line for a person, on stderr. */
  info(line: string): void;
  /**
   * Replaces the last status in place on a terminal, a line or a few; elsewhere prints one now and then, with --json
   * the document as a line of JSON.
   */
  status(render: (columns: number) => string | readonly string[], document?: unknown): void;
  endStatus(): void;
  readonly style: (format: Parameters<typeof styleText>[0], text: string) => string;
}

/** Nobody reads what a command prints any more, or its disk is full, and it has nothing else to do. */
export class OutputEndedError extends Error {}

const PLAIN_EVERY_MS = 10_000;
/** Of lines that go to a file. */
const PLAIN_COLUMNS = 200;

export function createTerminal(options: { json: boolean; env: NodeJS.ProcessEnv }): Terminal {
  const { json, env } = options;
  const live = process.stderr.isTTY === true && env['TERM'] !== 'dumb';
  const colour = live && !env['NO_COLOR'];
  let shownLines = 0;
  let plainAtMs = Number.NEGATIVE_INFINITY;
  let lastPlain = '';
  let latest = () => '';
  let later: NodeJS.Timeout | undefined;

  const forgetLater = () => {
    clearTimeout(later);
    later = undefined;
  };
  const printLatest = () => {
    forgetLater();
    const line = latest();
    if (line === lastPlain) return;
    plainAtMs = performance.now();
    lastPlain = line;
    process.stderr.write(`${line}\n`);
  };
  const clear = () => {
    if (shownLines > 0 && live) process.stderr.write(eraseLines(shownLines));
    shownLines = 0;
  };

  return {
    json,
    data(document, text) {
      clear();
      if (process.stdout.errored) throw new OutputEndedError();
      process.stdout.write(json ? `${stringifyJson(document)}\n` : `${text()}\n`);
    },
    info(line) {
      clear();
      process.stderr.write(`${escapeControls(line)}\n`);
    },
    status(render, document) {
      if (live) {
        const columns = process.stderr.columns || 80;
        // What has left the top of the screen cannot be replaced.
        const lines = toLines(render(columns - 1)).slice(0, Math.max(1, (process.stderr.rows || 24) - 1));
        const text = lines.map((line) => cutLine(line, columns - 1)).join('\n');
        process.stderr.write(`${eraseLines(Math.max(1, shownLines))}${text}`);
        shownLines = lines.length;
        return;
      }
      latest = () =>
        json && document !== undefined ? stringifyJson(document) : toLines(render(PLAIN_COLUMNS)).join('\n');
      const leftMs = plainAtMs + PLAIN_EVERY_MS - performance.now();
      if (leftMs <= 0) return printLatest();
      // The last one before a silence says what is waited for.
      later ??= setTimeout(printLatest, leftMs).unref();
    },
    endStatus() {
      forgetLater();
      if (shownLines > 0 && live) process.stderr.write('\n');
      shownLines = 0;
    },
    style: (format, text) => (colour ? styleText(format, text) : text),
  };
}

const toLines = (text: string | readonly string[]): readonly string[] =>
  typeof text === 'string' ? [text] : text;

/** Clears so many lines that end with the one of the cursor, and goes to the beginning of the first. */
const eraseLines = (count: number): string => `${count > 1 ? `\x1b[${count - 1}A` : ''}\r\x1b[J`;

/** A line of at most so many columns; one that is cut ends in an ellipsis. */
export const cutLine = (line: string, columns: number): string =>
  line.length > columns ? `${line.slice(0, Math.max(0, columns - 1)).trimEnd()}…` : line;
