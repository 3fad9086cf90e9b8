import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { measure } from '../measure.ts';
import type { Contender } from './contender.ts';

const BATCH_EVENTS = 1000;

/**
 * A script after the migration guides of vendors: lines, JSON.parse, a dozen properties, a thousand events
 * per request, one request at a time. No persons, no checkpoints, no retries, no compression.
 */
export const runDocumented: Contender = async ({ input, url }) => {
  let records = 0;
  let sent = 0;
  const send = async (batch: readonly object[]) => {
    const response = await fetch(`${url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: 'bench', historical_migration: true, batch }),
    });
    if (!response.ok) throw new Error(`the sink responded with ${response.status}`);
    await response.text();
    sent += batch.length;
  };

  const whole = await measure(async () => {
    let batch: object[] = [];
    const lines = createInterface({
      input: createReadStream(input).pipe(createGunzip()),
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    for await (const line of lines) {
      records += 1;
      const event = toEvent(line);
      if (!event) continue;
      batch.push(event);
      if (batch.length < BATCH_EVENTS) continue;
      await send(batch);
      batch = [];
    }
    if (batch.length > 0) await send(batch);
  });
  return { records, sent, phases: { whole } };
};

/** Undefined for a record that such a script cannot use: it skips it. */
function toEvent(line: string): object | undefined {
  try {
    const record = JSON.parse(line);
    const distinctId = record.user_id ?? record.device_id;
    if (distinctId === null) return undefined;
    return {
      event: record.event_type,
      uuid: record.uuid,
      timestamp: new Date(`${record.event_time}Z`).toISOString(),
      properties: {
        ...record.event_properties,
        distinct_id: String(distinctId),
        $set: record.user_properties,
        $groups: record.groups,
        $ip: record.ip_address,
        $os: record.os_name,
        $os_version: record.os_version,
        $device_type: record.device_type,
        $geoip_city_name: record.city,
        $geoip_country_name: record.country,
        $app_version: record.version_name,
        $lib: record.library,
        $session_id: record.session_id,
        language: record.language,
        platform: record.platform,
      },
    };
  } catch {
    return undefined;
  }
}
