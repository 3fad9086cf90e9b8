import { expect, it } from 'vitest';
import type { PartMeta } from '../../src/contract/part.ts';
import type { RejectLine } from '../../src/contract/progress.ts';
import { loadAcceptedEvents } from '../../src/pipeline/accepted-events.ts';
import { hashKey, KEY_WORDS } from '../../src/pipeline/event-hash.ts';
import { importPart } from '../../src/pipeline/import-part.ts';
import { stageRejects } from '../../src/pipeline/stage/stage-rejects.ts';
import { stageSlice } from '../../src/pipeline/stage/stage-slice.ts';
import type { ImportMap } from '../../src/sources/source.ts';
import type { Checkpoints } from '../../src/state/checkpoints.ts';
import { toEventKey } from '../../src/state/fingerprints.ts';
import type { MigrationRecord } from '../../src/state/migrations.ts';
import { createPartStore } from '../../src/state/part-store.ts';
import { listParts } from '../../src/state/parts.ts';
import { loadSentBefore } from '../../src/state/rejects/sent-before.ts';
import { createMapper } from '../sources/create-mapper.ts';
import { memorySlice } from '../sources/formats/memory-file.ts';
import { createMemoryStaging } from '../support/memory-staging.ts';

/** What is sent once more, to see whether a destination takes anything, is what it has taken, and nothing else. */

const never = new AbortController().signal;
const checkpoints: Checkpoints = {
  begin: async (part) => ({ fence: { part, epoch: 1, counter: 1 }, checkpoint: undefined }),
  save: async () => {},
  forget: async () => {},
};
const vendorMap = createMapper('jsonl', {
  mapping: {
    event: { column: 'does' },
    distinctId: { column: 'user' },
    timestamp: { column: 'at' },
    key: ['n'],
    unnest: { column: 'does' },
  },
});
/** Under ids of their own. */
const ownMap: ImportMap = Object.assign(
  (record: Parameters<ImportMap>[0]) => {
    const outcome = vendorMap(record);
    if (outcome.kind !== 'mapped') return outcome;
    return {
      ...outcome,
      events: outcome.events.map((event) => ({ ...event, uuid: event.uuid.replace(/^./, 'f') })),
    };
  },
  { viewFields: undefined },
);
const toMap = (_part: PartMeta, idFrom: PartMeta['idFrom']) => (idFrom === 'record' ? ownMap : vendorMap);

const line = (n: number, ...does: string[]) =>
  JSON.stringify({ n, at: '2023-03-14T09:26:53Z', user: `u-${n}`, does });

function open(name: string) {
  const staging = createMemoryStaging();
  const record = { name, id: name } as MigrationRecord;
  return {
    staging,
    async importAll(isRefused: (event: string) => boolean) {
      for await (const part of listParts(staging, `${name}/`))
        await importPart(
          part,
          {
            checkpoints,
            store: createPartStore(staging, record),
            map: toMap(part, part.idFrom),
            vendorMap,
            loadSentBefore: (id) => loadSentBefore(staging, name, id),
            mapping: 'jsonl@2',
            batch: { events: 1, bytes: 10_000, eventBytes: 10_000 },
            deliver: async ({ body }) => [
              isRefused(body.toString())
                ? { kind: 'refused' as const, detail: 'odd' }
                : { kind: 'accepted' as const },
            ],
            requestsInFlight: 1,
            onProgress: () => {},
          },
          never,
        );
    },
    async sendAgain() {
      const batches = await loadAcceptedEvents({ staging, record, toMap });
      return batches.map(
        ({ body }) => JSON.parse(body.toString().slice(0, -1)) as { event: string; uuid: string },
      );
    },
  };
}

it('is no reject, however many come first', async () => {
  const { staging, importAll, sendAgain } = open('odd');
  const lines = ['odd', 'odd', 'odd', 'odd', 'good', 'odd', 'fine'].map((does, n) => line(n, does));
  await stageSlice({
    ...{ slice: memorySlice(`${lines.join('\n')}\n`, { name: 'a' }), staging, prefix: 'odd/' },
    ...{ onPart: () => {}, signal: never },
  });
  await importAll((body) => body.includes('"odd"'));
  expect((await sendAgain()).map(({ event }) => event)).toEqual(['good', 'fine']);
});

it('is no event that a replay leaves out, because it was accepted under another id', async () => {
  const { staging, importAll, sendAgain } = open('replay');
  const text = line(1, 'Left', 'Bought');
  const [left = '', bought = ''] = mapKeys(text);
  const reject: RejectLine = {
    ...{ file: 'a', line: 1, part: 'a/00000', record: 0, format: { kind: 'json' } },
    ...{ reason: 'same_id_other_content', detail: 'twice', text },
    ...{ accepted: [left], sends: [bought] },
  };
  await stageRejects(
    staging,
    { replay: 'replay', token: 'a1' },
    (async function* () {
      yield reject;
    })(),
  );
  await importAll(() => false);
  const again = await sendAgain();
  expect(again.map(({ event }) => event)).toEqual(['Bought']);
  expect(again[0]?.uuid).toMatch(/^f/);
});

/** Of each event of a record, under the vendor's ids. */
function mapKeys(text: string): string[] {
  const outcome = vendorMap(JSON.parse(text));
  if (outcome.kind !== 'mapped') throw new Error('the record becomes no event');
  return outcome.events.map((event) => {
    const words = new Int32Array(KEY_WORDS);
    hashKey(event, words);
    return toEventKey(words, 0);
  });
}
