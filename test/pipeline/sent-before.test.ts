import { expect, test } from 'vitest';
import { HEARD_TIME } from '../../src/contract/heard-time.ts';
import { mapped } from '../../src/contract/outcome.ts';
import { BatchBuilder } from '../../src/deliver/batch-builder.ts';
import { hashKey, KEY_WORDS } from '../../src/pipeline/event-hash.ts';
import { Fingerprints } from '../../src/pipeline/fingerprints.ts';
import { mapToBatches } from '../../src/pipeline/map-to-batches.ts';
import { Outcomes } from '../../src/pipeline/outcomes.ts';
import type { ImportMap } from '../../src/sources/source.ts';
import { toEventKey } from '../../src/state/fingerprints.ts';
import { PartRecords } from '../../src/state/part-records.ts';

const TIME = '2023-01-01T00:00:00.000Z';

test('a record whose events were all sent before says all that it says of persons', async () => {
  const event = { event: 'Opened', uuid: '0c3e5a10-1111-4b6e-8f00-000000000020', timestamp: TIME };
  const events = [{ ...event, properties: { distinct_id: 'ann' } }];
  const pair = { kind: 'pair', anonId: 'd', userId: 'ann', time: TIME } as const;
  const heard = { userIds: ['eve'], facts: [{ ...pair, userId: 'eve', time: HEARD_TIME }], seen: [] };
  const seen = { person: '7', id: 'ann', isUser: true, time: TIME };
  const outcome = { ...mapped(events, [pair], 'ann', seen), otherUserIds: ['bob'], heard };
  const words = new Int32Array(KEY_WORDS);
  for (const one of events) hashKey(one, words);

  const body = Buffer.from('{}');
  const places = { starts: [0], ends: [2], lines: [0], oversize: new Map(), origins: [] };
  const said: unknown[] = [];
  const outcomes = new Outcomes(1);
  const batches = mapToBatches(new PartRecords(body, undefined, places, body), 0, {
    parse: () => ({ kind: 'record', value: {} }) as never,
    map: (() => outcome) as unknown as ImportMap,
    batches: new BatchBuilder(),
    outcomes,
    facts: {
      add: (fact) => void said.push(fact),
      addUser: (id) => void said.push(id),
      addSeen: (one, isEvent) => void said.push([one, isEvent]),
    },
    fingerprints: new Fingerprints(1),
    sentBefore: new Map([[0, { accepted: new Set([toEventKey(words, 0)]) }]]),
  });
  for await (const { batch } of batches) expect(batch).toBeUndefined();
  expect(said).toEqual(['ann', 'bob', pair, [seen, false], 'eve', heard.facts[0]]);
});
