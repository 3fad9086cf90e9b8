import { z } from '@hono/zod-openapi';
import { errorSchema } from '../http/errors.ts';
import type { Api } from '../routing/route.ts';
import { MAX_EVENTS } from './limits.ts';
import { PACKINGS } from './request/decode.ts';

/**
 * The part of the OpenAPI document on ingestion. The parser accepts many more shapes, for old clients
 * (parse-request.ts); these are the ones of the contract, which new clients should send.
 */
const tag = 'Ingestion';

const eventFields = {
  event: z.string().openapi({ description: 'Name, cut at 200 characters.', example: '$pageview' }),
  properties: z.record(z.string(), z.unknown()).optional().openapi({
    description:
      '`$set`, `$set_once` and `$unset` change the person, whatever the event. At most 1 MiB as JSON, with keys of at most 1,000 characters; text with a NUL character or half a surrogate pair is refused.',
  }),
  timestamp: z.string().optional().openapi({
    description: 'ISO 8601; left out, unreadable, or more than 23 hours ahead: now.',
  }),
  uuid: z
    .uuid()
    .optional()
    .openapi({
      description:
        'Identity of the event, together with its name, distinct_id and UTC day: events that agree in all four are ' +
        'stored once. Left out, it follows from the whole request and the ' +
        'place in it, so that a request sent again stores nothing twice; but not where `timestamp` is left out too.',
    }),
};

const itemSchema = z
  .object({
    ...eventFields,
    distinct_id: z.string().optional().openapi({
      description: 'Whose event it is, cut at 200 characters; here, or in `properties`. Required.',
    }),
  })
  .openapi('IncomingEvent');

const sentAt = z.string().optional().openapi({
  description: 'When the client sent this, by its own clock: its skew is taken out of `timestamp`.',
});

const captureSchema = z
  .object({
    api_key: z.string().openapi({ description: 'The project API key.', example: 'phc_…' }),
    ...itemSchema.shape,
    sent_at: sentAt,
  })
  .openapi('CaptureRequest');

const batchSchema = z
  .object({
    api_key: z.string().openapi({ description: 'The project API key.', example: 'phc_…' }),
    historical_migration: z
      .boolean()
      .optional()
      .openapi({ description: 'True for imports: the address of the sender says nothing of the visitor.' }),
    batch: z.array(itemSchema).max(MAX_EVENTS),
    sent_at: sentAt,
  })
  .openapi('BatchRequest');

const packed = z.enum(PACKINGS).optional();

const formSchema = z
  .object({
    data: z.string().openapi({ description: 'The JSON, which may be packed, in base64.' }),
    compression: packed,
    api_key: z.string().optional().openapi({ description: 'Goes before a key in `data`.' }),
    sent_at: sentAt,
  })
  .openapi('IngestForm');

const querySchema = z.object({
  compression: packed.openapi({ description: 'How the body is packed; gzip is known without it.' }),
  _: z.string().optional().openapi({ description: '`sent_at` in milliseconds since 1970.' }),
});

const PATHS = [
  { path: '/capture/', schema: captureSchema, summary: 'Capture one event' },
  { path: '/batch/', schema: batchSchema, summary: 'Capture many events, all of them or none' },
  { path: '/e/', schema: captureSchema, summary: 'As /capture/, for browsers' },
  { path: '/i/v0/e/', schema: captureSchema, summary: 'As /capture/, for newer browsers' },
  { path: '/track/', schema: captureSchema, summary: 'As /capture/' },
  {
    path: '/engage/',
    schema: captureSchema,
    summary: 'As /capture/; an event without a name is `$identify`',
  },
] as const;

const ERRORS: Readonly<Record<number, string>> = {
  400: 'One event at least is not valid, and nothing is stored.',
  401: 'No project API key, or one that is not valid.',
  413: 'The body, or what it unfolds to, is over 20 MB, or has too many events: send fewer.',
  415: 'The `Content-Encoding` is none that is understood: gzip is, and what `compression` may name.',
  429: 'Too much is under way; `Retry-After` says when to come again.',
  503: 'Not stored for now; send it again.',
};

/** Registers documentation alone: ingestion reads its bodies itself. */
export function describeIngest({ app }: Pick<Api, 'app'>): void {
  for (const { path, schema, summary } of PATHS) {
    app.openAPIRegistry.registerPath({
      method: 'post',
      path,
      operationId: `post_${path.split('/').filter(Boolean).join('_')}`,
      summary,
      description:
        'Any of these paths takes one event, an array of events, or a batch; plain, gzip (`Content-Encoding` or ' +
        '`compression`), lz64, or in a form field `data` in base64. No header is needed.',
      tags: [tag],
      security: [],
      request: {
        query: querySchema,
        body: {
          required: true,
          content: {
            'application/json': { schema },
            'application/x-www-form-urlencoded': { schema: formSchema },
          },
        },
      },
      responses: {
        200: {
          description: 'Everything is stored.',
          content: { 'application/json': { schema: z.object({ status: z.literal(1) }) } },
        },
        ...Object.fromEntries(
          Object.entries(ERRORS).map(([status, description]) => [
            status,
            { description, content: { 'application/json': { schema: errorSchema } } },
          ]),
        ),
      },
    });
  }
}
