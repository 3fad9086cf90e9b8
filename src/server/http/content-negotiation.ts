import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { collectColumns, orderColumns, renderHeader, renderRow } from './csv.ts';
import { isJsonObject } from './json.ts';
import { respondWithJson, toByteStream } from './response.ts';

/** Rows of a table that is made of one document. */
export const MAX_CSV_ROWS = 10_000;

/** The query parameter of every endpoint that responds in JSON or CSV. */
export const formQuery = z.object({
  format: z
    .preprocess((text) => (text === '' ? undefined : text), z.enum(['csv', 'json']).optional())
    .openapi({
      type: 'string',
      enum: ['csv', 'json'],
      description: 'Default: what `Accept` prefers, else JSON.',
    }),
});

/** The content types of such an endpoint, for its specification. */
export const FORMS = ['application/json', 'text/csv'] as const;

interface FormCall {
  readonly c: Context;
  readonly query: z.infer<typeof formQuery>;
}

/** A table, a few rows at a time. */
export type RowReader = () => AsyncIterable<readonly unknown[]>;

/** Responds in the form that the client wants; in CSV a line for each result, or one for a single object. */
export async function respondNegotiated(call: FormCall, document: unknown): Promise<Response> {
  if (!wantsCsv(call)) return respondWithJson(call.c, document);
  const rows = listRows(document).slice(0, MAX_CSV_ROWS);
  return respondWithCsv(call, async function* () {
    yield rows;
  });
}

/** The parameter decides, else the ending of the path, else `Accept`. */
export function wantsCsv({ c, query }: FormCall): boolean {
  if (query.format !== undefined) return query.format === 'csv';
  if (c.req.path.endsWith('.csv')) return true;
  c.header('Vary', 'Accept');
  return accepts(c, { header: 'Accept', supports: [...FORMS], default: FORMS[0] }) === FORMS[1];
}

function listRows(document: unknown): readonly unknown[] {
  const results = isJsonObject(document) ? document['results'] : document;
  return Array.isArray(results) ? results : [document];
}

/**
 * Streams a table. It is read twice, as a table begins with the names of all its columns: both readings must
 * give the same rows. Columns that appear in between are dropped. `columns` are there even without rows.
 */
export async function respondWithCsv(
  { c }: FormCall,
  read: RowReader,
  columns: readonly string[] = [],
): Promise<Response> {
  const names = new Set(columns);
  for await (const rows of read()) collectColumns(names, rows);
  return c.body(toByteStream(renderTable(names, read)), 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${fileName(c.req.path)}"`,
  });
}

async function* renderTable(
  names: ReadonlySet<string>,
  read: RowReader,
): AsyncGenerator<string, void, undefined> {
  const columns = orderColumns(names);
  if (columns.size === 0) return; // no rows, and no columns that are always there
  yield renderHeader(columns);
  for await (const rows of read()) yield rows.map((row) => renderRow(row, columns)).join('');
}

/** `/api/projects/1/persons/5/activity/` → `persons-5-activity.csv` */
export function fileName(path: string): string {
  const parts = path
    .replace(/^\/api\/projects\/[^/]+\//, '')
    .replace(/\.csv$/, '')
    .split('/');
  const words = parts.map((part) => part.replace(/[^\w-]+/g, '_')).filter((word) => word !== '');
  return `${words.join('-')}.csv`;
}
