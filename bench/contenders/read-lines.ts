import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';

/** A record of an Amplitude export, as far as the scripts here look at it. */
interface AmplitudeRecord extends Readonly<Record<string, unknown>> {
  readonly event_type: string;
  readonly event_time: string;
  readonly uuid: string;
  readonly user_id: string | null;
  readonly device_id: string;
  readonly event_properties: Readonly<Record<string, unknown>>;
  readonly user_properties: Readonly<Record<string, unknown>>;
}

/** Lines as guides read them: gunzip and readline, with their defaults. */
export const readLines = (input: string) =>
  createInterface({
    input: createReadStream(input).pipe(createGunzip()),
    crlfDelay: Number.POSITIVE_INFINITY,
  });

/**
 * The event that the service's guide makes of a record (https://posthog.com/docs/migrate/migrate-from-amplitude):
 * user or device id, event properties, user properties as `$set`, no lookup of the address. Of the other fields,
 * which the guide copies all, only the dozen that have a name at the destination; all of them cost twice as much.
 */
export function toDocumentedEvent(line: string) {
  const record = JSON.parse(line) as AmplitudeRecord;
  return {
    distinctId: record.user_id ?? record.device_id,
    event: record.event_type,
    uuid: record.uuid,
    timestamp: new Date(`${record.event_time}Z`),
    properties: {
      ...record.event_properties,
      $set: record.user_properties,
      $groups: record['groups'],
      $ip: record['ip_address'],
      $os: record['os_name'],
      $os_version: record['os_version'],
      $device_type: record['device_type'],
      $geoip_disable: true,
      $geoip_city_name: record['city'],
      $geoip_country_name: record['country'],
      $app_version: record['version_name'],
      $session_id: record['session_id'],
      language: record['language'],
      platform: record['platform'],
    },
  };
}
