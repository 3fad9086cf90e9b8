/** The fields that differ between records. Those called `…Json` are JSON text already. */
export interface RecordFields {
  readonly app: number;
  readonly type: string;
  readonly uuid: string;
  readonly eventId: number;
  readonly eventTime: string;
  /** Time of the event by the device's clock, in epoch ms. */
  readonly clientMs: number;
  /** Time of arrival at the vendor, in epoch ms. */
  readonly uploadMs: number;
  readonly sessionId: number;
  readonly userIdJson: string;
  readonly deviceIdJson: string;
  readonly eventPropertiesJson: string;
  readonly userPropertiesJson: string;
  readonly groupsJson: string;
  readonly groupPropertiesJson: string;
  /** Fields of the device, ending in a comma. */
  readonly deviceJson: string;
}

/**
 * One line of an Amplitude export, with every field of the native record. Rendered as text: serialising
 * objects would take most of the time of writing a large sample.
 */
export function renderAmplitudeRecord(fields: RecordFields): string {
  const { app, type, uuid, clientMs, uploadMs } = fields;
  return `{"$insert_id":"${uuid.slice(24)}-${fields.eventId}","$insert_key":null,"$schema":null,"app":${app},"event_id":${fields.eventId},"event_type":"${type}","event_time":"${fields.eventTime}","client_event_time":"${renderAmplitudeTime(clientMs)}","client_upload_time":"${renderAmplitudeTime(uploadMs - 240)}","server_received_time":"${renderAmplitudeTime(uploadMs - 35)}","server_upload_time":"${renderAmplitudeTime(uploadMs)}","processed_time":"${renderAmplitudeTime(uploadMs + 1_450)}","user_id":${fields.userIdJson},"device_id":${fields.deviceIdJson},"session_id":${fields.sessionId},"uuid":"${uuid}",${fields.deviceJson}"start_version":null,"is_attribution_event":false,"sample_rate":null,"data":{"path":"/2/httpapi"},"event_properties":${fields.eventPropertiesJson},"user_properties":${fields.userPropertiesJson},"groups":${fields.groupsJson},"group_properties":${fields.groupPropertiesJson}}\n`;
}

const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));
const days = new Map<number, string>();

/** `YYYY-MM-DD HH:MM:SS.ffffff`, UTC without a zone. Written by hand for speed: a record has six of them. */
export function renderAmplitudeTime(epochMs: number): string {
  const day = Math.floor(epochMs / DAY_MS);
  const ms = epochMs - day * DAY_MS;
  const seconds = Math.floor(ms / 1_000);
  const clock = `${TWO[Math.floor(seconds / 3_600)]}:${TWO[Math.floor(seconds / 60) % 60]}:${TWO[seconds % 60]}`;
  return `${renderDay(day)} ${clock}.${String(ms % 1_000).padStart(3, '0')}000`;
}

/** UTC day of a time, `YYYY-MM-DD`. */
export const renderAmplitudeDay = (epochMs: number): string => renderDay(Math.floor(epochMs / DAY_MS));

function renderDay(day: number): string {
  let text = days.get(day);
  if (text === undefined) {
    text = new Date(day * DAY_MS).toISOString().slice(0, 10);
    days.set(day, text);
  }
  return text;
}
