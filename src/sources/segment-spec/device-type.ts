import type { PropertyList } from '../../lib/json/property-list.ts';
import { readText } from '../mapping/identity.ts';
import { asFields, type Fields } from '../mapping/table.ts';

/** As live clients call them. */
const DEVICE_TYPES = new Map([
  ['desktop', 'Desktop'],
  ['mobile', 'Mobile'],
  ['phone', 'Mobile'],
  ['tablet', 'Tablet'],
  ['tv', 'TV'],
  ['console', 'Console'],
  ['wearable', 'Wearable'],
]);

const MOBILE_PLATFORMS = new Set(['ios', 'android']);

/**
 * `context.device.type` is a platform where clients of phones fill it in (`ios`, `Android`), and a type of device
 * only where a customer does.
 * https://segment.com/docs/connections/spec/common/#context-fields-automatically-collected
 */
export function setDeviceType(properties: PropertyList, context: Fields): void {
  const device = asFields(context['device']);
  const given = readText(device?.['type'])?.toLowerCase();
  if (given === undefined) return;
  const type = MOBILE_PLATFORMS.has(given)
    ? readText(device?.['model'])?.startsWith('iPad')
      ? 'Tablet'
      : 'Mobile'
    : DEVICE_TYPES.get(given);
  if (type !== undefined) properties.set('$device_type', type);
}
