import { asFields, type Fields } from '../mapping/table.ts';

/** An event of the generated Amplitude export, as the call that Segment would have archived for it. */
export function toSampleCall(record: Fields): Fields {
  const time = `${String(record['event_time']).replace(' ', 'T').slice(0, 23)}Z`;
  const own = asFields(record['event_properties']) ?? {};
  const call = {
    anonymousId: record['device_id'],
    userId: record['user_id'],
    messageId: record['uuid'],
    timestamp: time,
    originalTimestamp: time,
    sentAt: time,
    receivedAt: time,
    context: toContext(record, own),
    integrations: {},
  };
  switch (record['event_type']) {
    case '$identify':
      return { ...call, type: 'identify', traits: record['user_properties'] };
    case '[Amplitude] Page Viewed':
      return { ...call, type: 'page', properties: toPage(own) };
    default:
      return { ...call, type: 'track', event: record['event_type'], properties: own };
  }
}

const toContext = (record: Fields, own: Fields) => ({
  ip: record['ip_address'],
  locale: record['language'],
  userAgent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0 Safari/537.36',
  library: { name: 'analytics.js', version: '2.11.1' },
  os: { name: record['os_name'], version: record['os_version'] },
  device: {
    id: record['device_id'],
    type: record['device_type'],
    manufacturer: record['device_manufacturer'],
    model: record['device_model'],
  },
  app: { name: 'Example', version: record['version_name'] },
  location: { city: record['city'], region: record['region'], country: record['country'] },
  page: toPage(own),
});

const toPage = (own: Fields) => ({
  url: own['[Amplitude] Page Location'],
  path: own['[Amplitude] Page Path'],
  title: own['[Amplitude] Page Title'],
});
