import type { PropertyList } from '../../lib/json/property-list.ts';
import { defineFileSource } from '../files/define-file-source.ts';
import { readText } from '../mapping/identity.ts';
import { createReadSessionId } from '../mapping/session-ids.ts';
import { asFields, type Fields } from '../mapping/table.ts';
import { createCallMaps, listCallFields } from '../segment-spec/calls.ts';
import { createListFieldFates } from '../segment-spec/field-fates.ts';
import { callOptions, listUnheededOfCalls } from '../segment-spec/options.ts';
import { isCall, isOfRudderstack } from '../segment-spec/recognize.ts';
import type { CallDialect } from '../segment-spec/rules.ts';
import { toSampleCall } from '../segment-spec/sample.ts';
import { readSessionStart } from '../segment-spec/session.ts';

/** The shared spec, and what RudderStack's servers and clients add to it. */
const RUDDERSTACK: CallDialect = {
  source: 'rudderstack',
  table: {
    $ip: ['context.ip', 'context.passed_ip', 'request_ip'],
    rudderstack_channel: 'channel',
  },
  setSession: setSessionByStart,
};

export const rudderstack = defineFileSource({
  type: 'rudderstack',
  options: callOptions,
  maps: createCallMaps(RUDDERSTACK),
  listUnheeded: listUnheededOfCalls,
  knownFields: () => listCallFields(RUDDERSTACK),
  toListFieldFates: (options) => createListFieldFates(RUDDERSTACK, options),
  recognize: (record) => isCall(record) && isOfRudderstack(record),
  exportName: 'RudderStack archive',
  docs: {
    reads: 'archives of calls as JSON lines',
    notes: "Segment's calls, with RudderStack's sessions, channel and request address",
  },
  example: 'examples/rudderstack.yaml',
  sample: { format: 'json', options: {}, toRecord: toRudderstackCall },
});

function toRudderstackCall(event: Fields): Fields {
  const call = toSampleCall(event);
  const context = { ...asFields(call['context']), sessionId: event['session_id'], sessionStart: true };
  return { ...call, context, channel: 'web', request_ip: event['ip_address'] };
}

const readSessionId = createReadSessionId('rudderstack', readSessionStart);

/** Versions 1 and 2: a session's id is made of its start alone. */
function setSessionByStart(properties: PropertyList, record: Fields): void {
  const session = readText(asFields(record['context'])?.['sessionId']);
  if (session === undefined || session === '') return;
  const owner = readText(record['anonymousId']) ?? readText(record['userId']) ?? '';
  const id = readSessionId([owner], session);
  if (id === undefined) properties.set('rudderstack_session_id', session);
  else properties.set('$session_id', id);
}
