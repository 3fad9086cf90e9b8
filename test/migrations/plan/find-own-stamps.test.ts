import { expect, it } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { makePlan } from '../../../src/migrations/plan/make-plan.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';

const exported = (properties: object) =>
  `${JSON.stringify({ event: 'Bought', distinct_id: 'ada', timestamp: '2024-02-03T04:05:06Z', properties })}\n`;

const plan = (text: string, stamps: object = {}) =>
  makePlan(
    manifestSchema.parse({
      name: 'again',
      source: {
        type: 'jsonl',
        from: 'in/*',
        mapping: {
          event: { column: 'event' },
          distinctId: { column: 'distinct_id' },
          timestamp: { column: 'timestamp' },
          spreadColumns: ['properties'],
        },
      },
      stamps,
    }),
    [memorySlice(text, { name: 'a.json' })],
    new Date('2024-03-01T00:00:00Z'),
    { recordsPerFile: 10 },
  );

it.each([
  ['', {}],
  [', where this manifest stamps under another name', { importId: 'job' }],
  [', where this manifest stamps nothing', { importId: false }],
])('warns of events that an import has stamped before%s', async (_, stamps) => {
  const text = exported({ $import_job_id: 'exports' }) + exported({ plan: 'pro' });
  expect((await plan(text, stamps)).warnings).toEqual([
    expect.stringMatching(/^1 event of the sample carry the stamp of an import: migrations such as exports /),
  ]);
});

it('does not warn of others', async () => {
  expect((await plan(exported({ plan: 'pro' }))).warnings).toEqual([]);
});
