import type { Mutant } from '../mutant.ts';

export const PIPELINE_MUTANTS: readonly Mutant[] = [
  {
    id: 'I1',
    what: 'accepted counts all events, refused too',
    file: 'src/pipeline/advance.ts',
    edits: [[`results.filter((delivery) => delivery.kind === 'accepted').length`, 'results.length']],
    tests: ['test/pipeline'],
  },
  {
    id: 'I10',
    what: 'checkpoint not forgotten / no receipt reuse: finished ignored',
    file: 'src/pipeline/import-part.ts',
    edits: [
      [
        `  if (finished) return finished;
`,
        '',
      ],
    ],
    tests: ['test/pipeline'],
  },
  {
    id: 'I3',
    what: 'checkpoint saved before rejects are kept',
    file: 'src/pipeline/import-part.ts',
    edits: [
      [
        '    if (step.rejects.length > 0) {',
        `    await checkpoints.save(fence, current);
    if (step.rejects.length > 0) {`,
      ],
    ],
    tests: ['test/pipeline'],
  },
  {
    id: 'I4',
    what: 'receipt looked for before the part is taken over',
    file: 'src/pipeline/import-part.ts',
    edits: [
      [
        `  const { fence, checkpoint } = await checkpoints.begin(part.id);
`,
        '',
      ],
      [
        `  if (finished) return finished;
`,
        `  if (finished) return finished;
  const { fence, checkpoint } = await checkpoints.begin(part.id);
`,
      ],
    ],
    tests: ['test/pipeline'],
  },
  {
    id: 'I6',
    what: 'findings before checkpoint lost on resume',
    file: 'src/pipeline/map-to-batches.ts',
    edits: [
      [`if (outcome.kind !== 'rejected') for`, `if (number >= from && outcome.kind !== 'rejected') for`],
    ],
    tests: ['test/pipeline'],
  },
  {
    id: 'S11',
    what: 'staged receipts believed though parts are missing',
    file: 'src/pipeline/stage/stage-slice.ts',
    edits: [[' && known.size === earlier.parts', '']],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'S9',
    what: 'fewer records unnoticed',
    file: 'src/pipeline/stage/stage-slice.ts',
    edits: [['if ([...known.keys()].some((number) => number >= parts)) throw', 'if (false) throw']],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'S1',
    what: 'one record too many per part',
    file: 'src/pipeline/stage/cut-parts.ts',
    edits: [['frames.records >= most', 'frames.records > most']],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'S4',
    what: 'firstRecord stays 0',
    file: 'src/pipeline/stage/cut-parts.ts',
    edits: [
      [
        `    this.firstRecord += frames.records;
`,
        '',
      ],
    ],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'SG1',
    what: 'a group of files is believed to be staged though parts are missing',
    file: 'src/pipeline/stage/stage-group.ts',
    edits: [[' && known.length === earlier.parts', '']],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'SG2',
    what: 'a file of a group that changed behind its parts goes unnoticed',
    file: 'src/pipeline/stage/stage-group.ts',
    edits: [['if (sha256 !== piece.sha256) throw', 'if (false) throw']],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'SG3',
    what: 'a file of a group that became shorter goes unnoticed',
    file: 'src/pipeline/stage/stage-group.ts',
    edits: [['if (this.#next < this.#pieces.length) throw', 'if (false) throw']],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'SG4',
    what: 'records that are in a part already are staged again when a group is continued',
    file: 'src/pipeline/stage/stage-group.ts',
    edits: [['isFresh = !this.#compare(record);', 'isFresh = this.#compare(record) || true;']],
    tests: ['test/pipeline/stage'],
  },
  {
    id: 'SG5',
    what: 'rejects of a part of several files all name one file',
    file: 'src/state/rejects.ts',
    edits: [['record.file ?? part.file', 'part.file']],
    tests: ['test/pipeline/by-file.test.ts'],
  },
  {
    id: 'SG6',
    what: 'a part of several files does not count by file',
    file: 'src/pipeline/import-part.ts',
    edits: [[', (record) => records[record]?.file', '']],
    tests: ['test/pipeline/by-file.test.ts'],
  },
];
