import { asFields, type Fields } from '../mapping/table.ts';

/** Declares the columns of `toSampleRow`. */
export const SAMPLE_OPTIONS = {
  mapping: {
    event: { column: 'event_type' },
    distinctId: { column: ['user_id', 'device_id'] },
    anonymousId: { column: 'device_id' },
    timestamp: { column: 'event_time' },
    uuid: { column: 'uuid' },
    groups: [{ type: 'company', column: 'company' }],
  },
};

/** An event of the generated Amplitude export as a row of a warehouse: own properties as columns, nothing nested. */
export function toSampleRow(event: Fields): Fields {
  const scalars = Object.entries(event).filter(([, value]) => typeof value !== 'object' || value === null);
  const own = Object.entries(asFields(event['event_properties']) ?? {});
  const company: unknown = asFields(event['groups'])?.['company'];
  return {
    ...Object.fromEntries(scalars),
    ...Object.fromEntries(own.map(([name, value]) => [`p_${name}`, String(value)])),
    company: Array.isArray(company) ? company[0] : null,
  };
}
