import type { TargetEvent } from '../../../src/contract/event.ts';
import { type MapOutcome, mapped } from '../../../src/contract/outcome.ts';
import type { PlanInput, SampledRecord } from '../../../src/migrations/plan/plan.ts';

export const targetEvent = (event: string, more: Partial<TargetEvent> = {}): TargetEvent => ({
  event,
  uuid: '6f0c1c9e-0f0a-5c55-9a52-5b1c2d3e4f50',
  timestamp: '2023-05-01T12:00:00.000Z',
  properties: { distinct_id: 'ada', plan: 'pro' },
  ...more,
});

export const sampled = (
  outcome: MapOutcome,
  fields: Record<string, unknown> = { user: 'ada' },
): SampledRecord => ({
  text: JSON.stringify(fields),
  fields,
  outcome,
});

export const signups = (count: number) =>
  Array.from({ length: count }, () => sampled(mapped([targetEvent('Signed up')])));

/** One file of 1,000 bytes, of which 100 bytes with 10 records were read. */
export const planInput = (more: Partial<PlanInput> = {}): PlanInput => ({
  migration: 'a',
  source: { type: 'amplitude', timezone: 'UTC', knownFields: new Set(['user']) },
  destination: 'https://analytics.example.com',
  groupIdentifyEvent: '$group_identify',
  limits: { eventsPerMinute: 10_000, requestsInFlight: 4, batch: { events: 1_000, bytes: 5 * 1024 * 1024 } },
  approval: undefined,
  files: [{ name: 'one.json.gz', bytes: 1_000 }],
  sample: [{ file: 'one.json.gz', bytesRead: 100, recordsRead: 10, complete: false, records: signups(10) }],
  now: new Date('2026-01-01T00:00:00Z'),
  unmatched: [],
  ...more,
});
