import { z } from '@hono/zod-openapi';

const DEFAULT_LIMIT = 100;

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Query parameters of a paged list. What cannot be read counts as not given, as clients expect. */
export const pageQuery = z.object({
  limit: z.string().optional().openapi({ description: 'Results per page (default 100).', example: '100' }),
  offset: z
    .string()
    .optional()
    .openapi({ description: 'Index of the first result (default 0).', example: '0' }),
});

export function parsePage(query: { limit?: string | undefined; offset?: string | undefined }): Page {
  return { limit: positive(query.limit) ?? DEFAULT_LIMIT, offset: positive(query.offset) ?? 0 };
}

function positive(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const value = Number(text);
  return value > 0 && Number.isSafeInteger(value) ? value : undefined;
}

export const paged = <T extends z.ZodType>(item: T) =>
  z.object({
    count: z.number().int(),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(item),
  });

export interface Paged<T> {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: T[];
}

/** Wraps one page; the links are absolute, the request's own with limit and offset replaced. */
export function renderPage<T>(url: string, page: Page, count: number, results: T[]): Paged<T> {
  const { limit, offset } = page;
  return {
    count,
    next: offset + limit < count ? link(url, limit, offset + limit) : null,
    previous: offset > 0 ? link(url, limit, Math.max(0, offset - limit)) : null,
    results,
  };
}

function link(url: string, limit: number, offset: number): string {
  const target = new URL(url);
  target.searchParams.delete('limit');
  target.searchParams.delete('offset');
  target.searchParams.append('limit', String(limit));
  target.searchParams.append('offset', String(offset));
  return target.href;
}
