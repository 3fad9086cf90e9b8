import { amplitudeTime } from './amplitude-time.ts';

/** What differs from record to record. Fields called `…Json` are JSON text already. */
export interface RecordFields {
  readonly app: number;
  readonly type: string;
  readonly uuid: string;
  readonly eventId: number;
  readonly eventTime: string;
  /** When the device had it, by its own clock, in epoch ms. */
  readonly clientMs: number;
  /** When the vendor had it, in epoch ms. */
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
 * One line of an Amplitude export, every field of the native record in it. Put together as text:
 * serialising objects would take most of the time of writing a large sample.
 */
export function amplitudeRecord(fields: RecordFields): string {
  const { app, type, uuid, clientMs, uploadMs } = fields;
  return `{"$insert_id":"${uuid.slice(24)}-${fields.eventId}","$insert_key":null,"$schema":null,"app":${app},"event_id":${fields.eventId},"event_type":"${type}","event_time":"${fields.eventTime}","client_event_time":"${amplitudeTime(clientMs)}","client_upload_time":"${amplitudeTime(uploadMs - 240)}","server_received_time":"${amplitudeTime(uploadMs - 35)}","server_upload_time":"${amplitudeTime(uploadMs)}","processed_time":"${amplitudeTime(uploadMs + 1_450)}","user_id":${fields.userIdJson},"device_id":${fields.deviceIdJson},"session_id":${fields.sessionId},"uuid":"${uuid}",${fields.deviceJson}"start_version":null,"is_attribution_event":false,"sample_rate":null,"data":{"path":"/2/httpapi"},"event_properties":${fields.eventPropertiesJson},"user_properties":${fields.userPropertiesJson},"groups":${fields.groupsJson},"group_properties":${fields.groupPropertiesJson}}\n`;
}
