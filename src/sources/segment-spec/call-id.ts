import { createEventId, createRecordId, readUuid } from '../mapping/event-id.ts';
import { readText } from '../mapping/identity.ts';
import { type Fields, hasValue } from '../mapping/table.ts';

/** The event that a call became, as far as its id may depend on it. */
interface Named {
  readonly event: string;
  readonly distinctId: string;
  readonly time: string;
}

export type CreateCallId = (source: string, call: Fields, named: Named) => string;

/** Version 1 believed every messageId to be unique. */
export const createIdByMessage: CreateCallId = (source, call) => {
  const messageId = readMessageId(call);
  if (messageId === undefined) return createRecordId(source, call);
  return readUuid(messageId) ?? createEventId([source, 'message', messageId]);
};

/**
 * A messageId that is a UUID names the call. Any other is what a client made up, such as the number of an
 * order, which several calls may share: name, person and time are part of the key then. The time is that of
 * the client: a retry repeats it, whereas `timestamp` is corrected again at every arrival.
 * https://segment.com/docs/connections/spec/common/
 */
export const createIdByCall: CreateCallId = (source, call, { event, distinctId, time }) => {
  const messageId = readMessageId(call);
  if (messageId === undefined) return createRecordId(source, call);
  const uuid = readUuid(messageId);
  if (uuid !== undefined) return uuid;
  const sent = hasValue(call['originalTimestamp']) ? readText(call['originalTimestamp']) : undefined;
  return createEventId([source, 'call', messageId, event, distinctId, sent ?? time]);
};

function readMessageId(call: Fields): string | undefined {
  const messageId = readText(call['messageId']);
  return messageId === undefined || messageId.trim() === '' ? undefined : messageId;
}
