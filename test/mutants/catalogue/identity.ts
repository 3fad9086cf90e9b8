import type { Mutant } from '../mutant.ts';

export const IDENTITY_MUTANTS: readonly Mutant[] = [
  {
    id: 'E1',
    what: 'shared device merged into its first user',
    file: 'src/identity/resolve-persons.ts',
    edits: [
      [
        `  if (real.length > 1) return { unmerged: [...unmerged, toUnmerged('shared_device', anonId, real)] };
`,
        '',
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E14',
    what: 'last flush left out',
    file: 'src/identity/resolve-buckets.ts',
    edits: [
      [
        `  await flush();
  return`,
        '  return',
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E15',
    what: 'digits of folded values lost',
    file: 'src/identity/property-fold.ts',
    edits: [['new JsonText(text)', 'JSON.parse(text)']],
    tests: ['test/identity'],
  },
  {
    id: 'E4',
    what: 'earliest and latest swapped',
    file: 'src/identity/property-fold.ts',
    edits: [
      [
        `=== 'latest' ? time > known.time : time < known.time`,
        `=== 'latest' ? time < known.time : time > known.time`,
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E8',
    what: 'set_once wins over set',
    file: 'src/identity/fold-persons.ts',
    edits: [['setOnce.filter(([key]) => !wasSet.has(key))', 'setOnce']],
    tests: ['test/identity'],
  },
];
