import { getMessage } from '../../../lib/errors.ts';
import { ApiError, tooLarge } from '../../http/errors.ts';
import { isJsonObject } from '../../http/json.ts';
import { parseSafely } from '../../http/safe-json.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { MAX_EVENTS } from '../limits.ts';
import { invalidPayload, malformed, noData } from '../refusal.ts';
import { dropRepeats } from '../same-row.ts';
import { parseTime, type TimeWarning } from './event-time.ts';
import { createEventNamer } from './name-events.ts';
import { type Payload, parseBatch, parseSingle } from './parse-batch.ts';
import { parseEvent, type RequestFacts } from './parse-event.ts';

/** Performance traces, which never were analytics events. */
const IGNORED_EVENTS = new Set(['$performance_event']);

export interface EventsContext extends Omit<RequestFacts, 'sentAtMs' | 'createUuid'> {
  readonly projectUuid: string;
  /** `_` of the query, or `sent_at` of a form. */
  readonly sentAt: string | undefined;
  /** For events that nothing names. */
  readonly createUuid: () => string;
}

export interface ParsedEvents {
  readonly events: readonly IncomingEvent[];
  readonly warnings: Readonly<Partial<Record<TimeWarning, number>>>;
}

/** From JSON, as text or as bytes of UTF-8, to what ingestion reads of it; its shape is not checked yet. */
export function parsePayload(json: string | Buffer): Payload {
  const read = typeof json === 'string' ? undefined : (parseBatch(json) ?? parseSingle(json));
  if (read !== undefined) return { ...read, parseWhole: () => parseBody(json) };
  const value = parseBody(json);
  return { value, parseWhole: () => value };
}

/** The same to all of its values. They are safe to store. */
export function parseBody(json: string | Buffer): unknown {
  try {
    return parseSafely(typeof json === 'string' ? json : json.toString('utf8'));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw malformed(`Invalid JSON: ${getMessage(error)}`);
  }
}

/**
 * From JSON to events: one event, an array of events, or `{batch: [...]}`, on any path. Of events that
 * are one row the first one counts; one bad event refuses the whole request.
 */
export function parseEvents(
  { value, propertiesTexts, parseWhole }: Payload,
  context: EventsContext,
): ParsedEvents {
  const envelope = isJsonObject(value) ? value : {};
  const historical = envelope['historical_migration'] === true;
  const items = listItems(value);
  if (items.length > MAX_EVENTS) throw tooLarge();
  const sentAtMs = parseSentAt(context.sentAt ?? envelope['sent_at']);
  const facts: RequestFacts = {
    ...context,
    ip: historical ? undefined : context.ip,
    sentAtMs,
    createUuid: createEventNamer(() => listItems(parseWhole()), { ...context, sentAtMs }),
  };
  const events: IncomingEvent[] = [];
  const warnings: Partial<Record<TimeWarning, number>> = {};
  for (const [index, item] of items.entries()) {
    const { event, warning } = parseEvent(item, facts, propertiesTexts?.[index]);
    if (warning !== undefined) warnings[warning] = (warnings[warning] ?? 0) + 1;
    if (!IGNORED_EVENTS.has(event.event)) events.push(event);
  }
  return { events: dropRepeats(events), warnings };
}

function listItems(payload: unknown): readonly unknown[] {
  if (Array.isArray(payload)) return payload;
  if (!isJsonObject(payload)) throw noData();
  const batch = payload['batch'];
  if (batch === undefined) return [payload];
  if (!Array.isArray(batch)) throw invalidPayload('Invalid payload: "batch" must be an array of events.');
  return batch;
}

function parseSentAt(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  // `_` carries epoch milliseconds; eleven digits or fewer are seconds.
  const digits = typeof value === 'string' && /^\d+$/.test(value) ? value : undefined;
  const sentAtMs =
    digits === undefined ? parseTime(value) : Number(digits) * (digits.length <= 11 ? 1000 : 1);
  const valid = sentAtMs !== undefined && Math.abs(sentAtMs) <= 8.64e15; // what Date can hold
  if (!valid) throw malformed('invalid sent at: it must be ISO 8601 or epoch milliseconds.');
  return sentAtMs;
}
