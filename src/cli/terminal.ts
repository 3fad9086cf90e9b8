import { styleText } from 'node:util';
import { stringifyJson } from '../lib/json/stringify-json.ts';

/** stdout is for data, stderr for everything that a person reads meanwhile. */
export interface Terminal {
  readonly json: boolean;
  /** A document on stdout: JSON with --json, else the given text. Throws OutputEndedError where an earlier one failed. */
  data(document: unknown, text: () => string): void;
  /** A line for a person, on stderr. */
  info(line: string): void;
  /**
   * Replaces the last status line in place on a terminal; elsewhere prints one now and then, with --json the
   * document as a line of JSON.
   */
  status(render: (columns: number) => string, document?: unknown): void;
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
  let statusShown = false;
  let plainAtMs = Number.NEGATIVE_INFINITY;
  let lastPlain = '';

  const clear = () => {
    if (statusShown && live) process.stderr.write('\r\x1b[2K');
    statusShown = false;
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
      process.stderr.write(`${line}\n`);
    },
    status(render, document) {
      if (live) {
        const columns = process.stderr.columns || 80;
        process.stderr.write(`\r\x1b[2K${cutLine(render(columns - 1), columns - 1)}`);
        statusShown = true;
        return;
      }
      const now = performance.now();
      if (now - plainAtMs < PLAIN_EVERY_MS) return;
      const line = json && document !== undefined ? stringifyJson(document) : render(PLAIN_COLUMNS);
      if (line === lastPlain) return;
      plainAtMs = now;
      lastPlain = line;
      process.stderr.write(`${line}\n`);
    },
    endStatus() {
      if (statusShown && live) process.stderr.write('\n');
      statusShown = false;
    },
    style: (format, text) => (colour ? styleText(format, text) : text),
  };
}

/** A line of at most so many columns; one that is cut ends in an ellipsis. */
export const cutLine = (line: string, columns: number): string =>
  line.length > columns ? `${line.slice(0, Math.max(0, columns - 1)).trimEnd()}…` : line;
