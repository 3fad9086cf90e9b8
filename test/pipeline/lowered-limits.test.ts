import { expect, test } from 'vitest';
import { mapped } from '../../src/contract/outcome.ts';
import { BatchBuilder, DEFAULT_BATCH_LIMITS } from '../../src/deliver/batch-builder.ts';
import { Fingerprints } from '../../src/pipeline/fingerprints.ts';
import { mapToBatches } from '../../src/pipeline/map-to-batches.ts';
import { Outcomes } from '../../src/pipeline/outcomes.ts';
import type { ImportMap } from '../../src/sources/source.ts';
import { PartRecords } from '../../src/state/part-records.ts';

const RECORDS = 2;

test('what was sent before its limits were lowered keeps its fingerprint, and is no reject', async () => {
  const toEvent = (event: string, uuid: string) => ({
    ...{ event, uuid, timestamp: '2023-01-01T00:00:00.000Z' },
    properties: { distinct_id: 'ann', text: 'x'.repeat(3_000) },
  });
  const events = [
    toEvent('Opened', '0c3e5a10-1111-4b6e-8f00-000000000020'),
    toEvent('Closed', '0c3e5a10-1111-4b6e-8f00-000000000021'),
  ];
  const body = Buffer.from('{}');
  const places = { starts: [0, 0], ends: [2, 2], lines: [0, 1], oversize: new Map(), origins: [] };
  const outcomes = new Outcomes(RECORDS);
  const fingerprints = new Fingerprints(RECORDS);
  const batches = mapToBatches(new PartRecords(body, undefined, places, body), 1, {
    parse: () => ({ kind: 'record', value: {} }) as never,
    map: (() => mapped(events, [])) as unknown as ImportMap,
    batches: new BatchBuilder({ ...DEFAULT_BATCH_LIMITS, bytes: 2_000, eventBytes: 2_000 }),
    ...{ outcomes, fingerprints },
    facts: { add: () => {}, addUser: () => {}, addSeen: () => {} },
  });
  for await (const { batch } of batches) expect(batch).toBeUndefined();
  // The second one is too large now, whatever it repeats.
  expect(outcomes.getRejection(1)).toMatchObject({ reason: 'event_too_large' });
  expect(fingerprints.encode((record) => record === 1, outcomes.labels, []).rows).toBe(1 + events.length);
});
