import { z } from '@hono/zod-openapi';
import { ApiError } from './errors.ts';

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

/** A page larger than `maxLimit`, which is what one request may hold, ends there; its `next` leads on. */
export function parsePage(
  query: { limit?: string | undefined; offset?: string | undefined },
  maxLimit: number,
): Page {
  const limit = Math.min(positive(query.limit) ?? DEFAULT_LIMIT, maxLimit);
  return { limit, offset: positive(query.offset) ?? 0 };
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

/**
 * Wraps one page; the links are absolute, the request's own with limit and offset replaced. `bareFirst`: the
 * link to the first page has no offset, as the service writes it for every list but persons.
 */
export function renderPage<T>(
  url: string,
  page: Page,
  count: number,
  results: T[],
  { bareFirst = false }: { readonly bareFirst?: boolean } = {},
): Paged<T> {
  const { limit, offset } = page;
  return {
    count,
    next: offset + limit < count ? linkTo(url, { limit, offset: offset + limit }) : null,
    previous: offset > 0 ? linkTo(url, { limit, offset: computePreviousOffset(page, bareFirst) }) : null,
    results,
  };
}

function computePreviousOffset({ limit, offset }: Page, bareFirst: boolean): number | undefined {
  const previous = Math.max(0, offset - limit);
  return bareFirst && previous === 0 ? undefined : previous;
}

/** The address with these parameters, in this order at its end, instead of those it had; undefined: without. */
export function linkTo(url: string, params: Readonly<Record<string, number | undefined>>): string {
  const target = new URL(url);
  target.searchParams.delete('personal_api_key'); // a link is logged and passed on
  for (const name of Object.keys(params)) target.searchParams.delete(name);
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) target.searchParams.append(name, String(value));
  }
  return target.href;
}

const DEFAULT_ROWS = 10;
const MAX_ROWS = 1000;
const MAX_PAGE = 1_000_000_000;

/** Query parameters of a log, whose pages have numbers. What cannot be read counts as not given. */
export const numberedPageQuery = z.object({
  page: z.string().optional().openapi({ description: 'From 1 (default).', example: '1' }),
  limit: z
    .string()
    .optional()
    .openapi({
      description: `Results per page (default ${DEFAULT_ROWS}, at most ${MAX_ROWS}).`,
      example: '10',
    }),
});

export function parseNumberedPage(query: { page?: string | undefined; limit?: string | undefined }): Page {
  const limit = positive(query.limit) ?? DEFAULT_ROWS;
  const page = positive(query.page) ?? 1;
  if (limit > MAX_ROWS) throw tooHigh('limit', MAX_ROWS);
  if (page > MAX_PAGE) throw tooHigh('page', MAX_PAGE);
  return { limit, offset: (page - 1) * limit };
}

const tooHigh = (attr: string, max: number) =>
  new ApiError(
    400,
    'validation_error',
    'max_value',
    `Ensure this value is less than or equal to ${max}.`,
    attr,
  );

export const numberedPage = <T extends z.ZodType>(item: T) =>
  paged(item).extend({ total_count: z.number().int() });

/** As `renderPage`; logs call the count `total_count`. */
export function renderNumberedPage<T>(
  url: string,
  { limit, offset }: Page,
  count: number,
  results: T[],
): Paged<T> & { readonly total_count: number } {
  const number = offset / limit + 1;
  return {
    count,
    total_count: count,
    next: offset + limit < count ? linkTo(url, { page: number + 1 }) : null,
    previous: number > 1 ? linkTo(url, { page: number - 1 }) : null,
    results,
  };
}
