import { describe, expect, it } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { toRehearsal } from '../../../src/migrations/rehearse/rehearsal-manifest.ts';

const given = {
  name: 'web-2023',
  source: {
    type: 'csv',
    from: 's3://exports/2023',
    encoding: 'windows-1252',
    delimiter: ';',
    mapping: { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } },
  },
  destination: { url: 'https://analytics.example.com', apiKey: '${KEY}' },
  approval: { reference: 'T-1', eventsPerMinute: 50_000 },
  limits: { eventsPerMinute: 50_000, requestsInFlight: 2 },
  schedule: { cron: '0 6 * * *' },
  persons: 'hold',
  people: { overwrite: true },
};

describe('a rehearsal', () => {
  it('has neither destination nor what belongs to one, and keeps all that decides about events', () => {
    const manifest = manifestSchema.parse(given);
    const rehearsal = toRehearsal(manifest);
    const { destination, approval, schedule, persons, limits, ...kept } = rehearsal;
    expect([destination, approval, schedule, persons]).toEqual([undefined, undefined, undefined, 'send']);
    expect(limits).toEqual({ requestsInFlight: 2, batch: manifest.limits.batch });
    expect(kept).toMatchObject({
      name: 'web-2023.rehearsal',
      source: manifest.source,
      people: manifest.people,
    });
  });

  it('of a sample reads its files, which are UTF-8', () => {
    const { source } = toRehearsal(manifestSchema.parse(given), ['/tmp/a.csv']);
    expect(source).toMatchObject({ type: 'csv', from: ['/tmp/a.csv'], delimiter: ';' });
    expect(source).not.toHaveProperty('encoding');
  });

  it('has a name that is one, however long the other is', () => {
    const name = 'a'.repeat(63);
    expect(toRehearsal(manifestSchema.parse({ ...given, name })).name).toBe(`${'a'.repeat(53)}.rehearsal`);
  });
});
