import { open } from 'node:fs/promises';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { createRowParser, guessDelimiter } from '../../sources/formats/csv-row.ts';
import type { Cell } from './event-counts.ts';

const COLUMNS = 'day,event,count and perhaps users';

/**
 * The vendor's own counts: a table with the columns day (2024-02-03), event, count and perhaps users, in any
 * order. Throws ConfigError with the line that cannot be read.
 */
export async function* readCountsFile(path: string): AsyncGenerator<Cell> {
  const file = await open(path).catch((error: unknown) => {
    throw new ConfigError(`the counts cannot be read: ${getMessage(error)}`, error);
  });
  let number = 0;
  let read: ((line: string) => Cell) | undefined;
  try {
    for await (const line of file.readLines()) {
      number += 1;
      if (line.trim() === '') continue;
      if (read) yield read(line);
      else read = createCellReader(line.replace(/^\uFEFF/, ''));
    }
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    throw new ConfigError(`${path}:${number}  ${error.message}`);
  } finally {
    await file.close().catch(() => {}); // at its end it is closed already
  }
  if (!read) throw new ConfigError(`${path} is empty; it takes a table with the columns ${COLUMNS}`);
}

class RowError extends Error {}

function createCellReader(header: string): (line: string) => Cell {
  const delimiter = guessDelimiter(header);
  const parse = createRowParser(delimiter);
  const names = (parse(header) ?? []).map((name) => name.trim().toLowerCase());
  const [day, event, count, users] = ['day', 'event', 'count', 'users'].map((name) => names.indexOf(name));
  if (day === undefined || event === undefined || count === undefined || Math.min(day, event, count) < 0)
    throw new RowError(`is no header with the columns ${COLUMNS}`);
  return (line) => {
    const cells = parse(line);
    if (!cells || cells.length !== names.length)
      throw new RowError(`has other columns than the header, which has ${names.length}`);
    const of = (index: number) => cells[index] ?? '';
    const usersText = users === undefined || users < 0 ? '' : of(users).trim();
    return {
      day: readDay(of(day).trim()),
      event: of(event),
      count: readCount(of(count).trim(), 'count'),
      ...(usersText === '' ? {} : { users: readCount(usersText, 'users') }),
    };
  };
}

function readDay(text: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw new RowError(`"${text.slice(0, 40)}" is no day such as 2024-02-03`);
}

function readCount(text: string, column: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isNaN(value)) return value;
  throw new RowError(`${column} is "${text.slice(0, 40)}", and takes a whole number`);
}
