import { expect, test } from 'vitest';
import { createBenchMap } from '../../bench/source-maps.ts';
import type { PartMeta } from '../../src/contract/part.ts';
import { DEFAULT_BATCH_LIMITS } from '../../src/deliver/batch-builder.ts';
import { takeBuffer } from '../../src/lib/spare-buffers.ts';
import { importPart } from '../../src/pipeline/import-part.ts';
import { parseStoredFact, type StoredFact } from '../../src/state/facts/fact-line.ts';
import { PartRecords } from '../../src/state/part-records.ts';
import type { PartStore } from '../../src/state/part-store.ts';
import { listLines } from '../state/facts/lines.ts';

const PERSONS = 50;

/** Large enough that its memory is used again. */
function createRecords(): PartRecords {
  const body = Buffer.allocUnsafeSlow(128 * 1024);
  const starts: number[] = [];
  const ends: number[] = [];
  let end = 0;
  for (let person = 0; person < PERSONS; person += 1) {
    starts.push(end);
    end += body.write(
      `{"user_id":"u${person}","event_type":"e","event_time":"2023-01-01 00:00:00.000000","$insert_id":"${person}","user_properties":{"plan":"plan ${person}","team":"team ${person}"}}`,
      end,
    );
    ends.push(end);
  }
  const places = { starts, ends, lines: starts.map((_, line) => line), oversize: new Map(), origins: [] };
  return new PartRecords(body, undefined, places, body);
}

test('the bytes of a part are given to nobody else before its identity facts are saved', async () => {
  const records = createRecords();
  const saved: StoredFact[] = [];
  const store: PartStore = {
    loadPart: async () => records,
    loadReceipt: async () => undefined,
    saveRejects: async (key) => ({ key, bytes: 0, records: 0 }),
    loadRejected: async () => [],
    saveFingerprints: async (key) => ({ key, sections: [] }),
    async saveFacts(key, facts) {
      // What another part would do with memory that is free.
      takeBuffer(records.bytes.length).fill('x');
      saved.push(...listLines(facts).map(parseStoredFact));
      return { key, sections: [] };
    },
    createReceipt: async (receipt) => receipt,
  };
  const part = { id: 'f1/00000', file: 'a.json', format: { kind: 'json' } } as unknown as PartMeta;
  await importPart(
    part,
    {
      checkpoints: {
        begin: async (id) => ({ fence: { part: id, epoch: 1, counter: 1 }, checkpoint: undefined }),
        save: async () => {},
        forget: async () => {},
      },
      store,
      map: createBenchMap('amplitude'),
      mapping: 'amplitude@1',
      batch: DEFAULT_BATCH_LIMITS,
      deliver: async ({ offsets }) =>
        Array.from({ length: offsets.length - 1 }, () => ({ kind: 'accepted' })),
      requestsInFlight: 1,
      onProgress: () => {},
    },
    new AbortController().signal,
  );
  const persons = saved.filter((fact) => fact.kind === 'id');
  expect(persons).toHaveLength(PERSONS);
  expect(persons.find(({ id }) => id === 'u7')).toMatchObject({
    properties: expect.stringContaining('"plan":"plan 7","team":"team 7"}'),
  });
});
