import type { Mutant } from '../mutant.ts';

export const PIPELINE_MUTANTS: readonly Mutant[] = [
  {
    id: 'HEARD-9',
    what: 'what a rejected record says about who is who is not stored',
    file: 'src/pipeline/map-to-batches.ts',
    edits: [['if (outcome.heard) addHeard(facts, outcome.heard);', '']],
    tests: ['test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'HEARD-10',
    what: 'a record in the future hides who used its device',
    file: 'src/pipeline/limit-to-stored.ts',
    edits: [['{ ...reject, heard: toHeard(outcome) }', 'reject']],
    tests: ['test/pipeline/limit-to-stored.test.ts'],
  },
  {
    id: 'STORED-1',
    what: 'an event counted as delivered that the destination drops for the secret of its day',
    file: 'src/pipeline/limit-to-stored.ts',
    edits: [['if (isCookieless(properties)) return', 'if (false) return']],
    tests: ['test/pipeline/limit-to-stored.test.ts'],
  },
  {
    id: 'STORED-2',
    what: 'a mark of false taken for one',
    file: 'src/pipeline/limit-to-stored.ts',
    edits: [
      ['Boolean(properties.get(COOKIELESS))', 'properties.has(COOKIELESS)'],
      ['Boolean(properties[COOKIELESS_MARK])', 'COOKIELESS_MARK in properties'],
    ],
    tests: ['test/pipeline/limit-to-stored.test.ts'],
  },
  {
    id: 'HEARD-11',
    what: 'a record that was sent before hides all but one of its users',
    file: 'src/pipeline/leave-out.ts',
    edits: [['const { events: _, ...said }', 'const { events: _, otherUserIds: __, ...said }']],
    tests: ['test/pipeline/sent-before.test.ts'],
  },
  {
    id: 'HEARD-12',
    what: 'a record outside the window hides who used its device',
    file: 'src/pipeline/limit-to-window.ts',
    edits: [['heard: toHeardAtTime(outcome),', '']],
    tests: ['test/pipeline/limit-to-window.test.ts', 'test/migrations/persons/windows.test.ts'],
  },
  {
    id: 'HEARD-13',
    what: 'when a user was first seen with a device is forgotten where that is outside the window',
    file: 'src/pipeline/limit-to-window.ts',
    edits: [['import { toHeardAtTime }', 'import { toHeard as toHeardAtTime }']],
    tests: ['test/pipeline/limit-to-window.test.ts', 'test/migrations/persons/windows.test.ts'],
  },
  {
    id: 'SN2',
    what: 'what a sleeper staged of a removed migration stays',
    file: 'src/pipeline/stage/stage-own.ts',
    edits: [['      await clearStaging(staging, prefix).catch(() => {});', '      return;']],
    tests: ['test/migrations/removed-meanwhile.test.ts'],
  },
  {
    id: 'SN3',
    what: 'the receipt of a slice is written last, and nobody looks whether the epoch is over',
    file: 'src/pipeline/stage/stage-own.ts',
    edits: [
      [
        `    });
    await assertInForce();
`,
        `    });
`,
      ],
    ],
    tests: ['test/migrations/removed-meanwhile.test.ts'],
  },
  {
    id: 'I1',
    what: 'accepted counts all events, refused too',
    file: 'src/pipeline/advance.ts',
    edits: [[`delivery?.kind === 'accepted' ? 1 : 0`, '1']],
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
        '    if (notes.length > 0) {',
        `    await checkpoints.save(fence, current);
    if (notes.length > 0) {`,
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
    edits: [[`if (outcome.kind !== 'rejected') {`, `if (record >= from && outcome.kind !== 'rejected') {`]],
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
    file: 'src/state/rejects/rejects.ts',
    edits: [['record.file ?? part.file', 'part.file']],
    tests: ['test/pipeline/by-file.test.ts'],
  },
  {
    id: 'SG6',
    what: 'a part of several files does not count by file',
    file: 'src/pipeline/import-part.ts',
    edits: [['getFile: (record) => records.getFile(record),', 'getFile: () => undefined,']],
    tests: ['test/pipeline/by-file.test.ts'],
  },
  {
    id: 'RP2',
    what: 'which of different records stays depends on the order of files',
    file: 'src/pipeline/repeats/decide-repeats.ts',
    edits: [['all.sort((a, b) => rows.compareContents(a, b) || a - b);', 'all.sort((a, b) => a - b);']],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RP3',
    what: 'the record that stays is not kept for a replay',
    file: 'src/pipeline/repeats/decide-repeats.ts',
    edits: [['for (const row of staying) onStays(', 'for (const row of staying.slice(0, 0)) onStays(']],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RP4',
    what: 'a repeat of a refused record counts as a duplicate',
    file: 'src/pipeline/advance.ts',
    edits: [['      if (first) reject(', `      if (first && first.reason !== 'refused') reject(`]],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RP5',
    what: 'refused records leave fingerprints',
    file: 'src/pipeline/import-part.ts',
    edits: [
      [
        'fingerprints.encode(\n    (record) => rejected.has(record),',
        'fingerprints.encode(\n    () => false,',
      ],
    ],
    tests: ['test/pipeline/import-part.test.ts'],
  },
  {
    id: 'RP6',
    what: 'what was refused before the checkpoint is forgotten on resume',
    file: 'src/pipeline/import-part.ts',
    edits: [
      [
        'const rejected = continued ?? new Map<number, RejectNote>();',
        'const rejected = new Map<number, RejectNote>();',
      ],
    ],
    tests: ['test/pipeline/import-part.test.ts'],
  },
  {
    id: 'RP7',
    what: 'different records of one key in a part are dropped',
    file: 'src/pipeline/fingerprints.ts',
    edits: [
      [
        'for (let word = 0; word < RECORD_AT; word += 1) if',
        'for (let word = 0; word < KEY_WORDS; word += 1) if',
      ],
    ],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'PC4',
    what: 'a member of a group is opened as it was when the migration began',
    file: 'jobs/stage-slice.ts',
    edits: [['...now.get(fileId), ', '']],
    tests: ['test/jobs/stage-slice.test.ts'],
  },
  {
    id: 'YM1',
    what: 'workers that do not know the format of new ledgers take jobs about persons, and fail them',
    file: 'jobs/catalog.ts',
    edits: [['-${JOBS_VERSION}-${LEDGER_FORMAT}`', '-${JOBS_VERSION}`']],
    tests: ['test/jobs/catalog.test.ts'],
  },
  {
    id: 'PC5',
    what: 'a job has no room for a group of which every member was repaired',
    file: 'jobs/catalog.ts',
    edits: [['sizeLimit: 200_000', 'sizeLimit: 50_000']],
    tests: ['test/jobs/work-queue.test.ts'],
  },
  {
    id: 'PC1',
    what: 'parts that were imported are cut again where nothing says how',
    file: 'src/pipeline/stage/prove-cuts.ts',
    edits: [['if (!isSame) throw', 'if (!part) throw']],
    tests: ['test/pipeline/stage/stage-slice.test.ts'],
  },
  {
    id: 'PC2',
    what: 'a lost part is written again from a file with other content',
    file: 'src/pipeline/stage/prove-cuts.ts',
    edits: [["if (hash.digest('hex') !== earlier.fingerprint.sha256)", 'if (!earlier)']],
    tests: ['test/pipeline/stage/stage-slice.test.ts'],
  },
  {
    id: 'RP12',
    what: 'of a record of several events only the whole is compared, so items that collide are lost',
    file: 'src/pipeline/fingerprints.ts',
    edits: [
      [
        'for (const [index, eventLabel] of labels.entries()) {',
        'for (const [index, eventLabel] of [].entries()) {',
      ],
    ],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RP13',
    what: 'a record of several events is rejected twice',
    file: 'src/migrations/run/several-events.ts',
    edits: [['if (contents.has(whole.content)) continue;', '']],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RP8',
    what: 'folded ranges are folded again after an interruption',
    file: 'src/migrations/run/repeats-phase.ts',
    edits: [
      [
        '    let folded = isDamaged ? undefined : await loadRepeatsIfWhole(staging, key);',
        '    let folded = await loadRepeatsIfWhole(staging, `${key}.none`);',
      ],
    ],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RP9',
    what: 'repeats that an earlier run counted are taken for those of a top-up',
    file: 'src/state/repeats.ts',
    edits: [['hash.update(`${part} ${fingerprints.key}\\n`);', '']],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RP10',
    what: 'the day of an event is left out of its key',
    file: 'src/pipeline/event-hash.ts',
    edits: [['${event.timestamp.slice(0, 10)}', '']],
    tests: ['test/pipeline/event-hash.test.ts'],
  },
  {
    id: 'RP11',
    what: 'the order of members changes the content',
    file: 'src/pipeline/event-writer.ts',
    edits: [
      [
        'this.#member(getName(name), value);\n      a = (a + (lanes[0] as number)) | 0;',
        'this.#member(getName(name), value);\n      a = (Math.imul(a, 31) + (lanes[0] as number)) | 0;',
      ],
    ],
    tests: ['test/pipeline/event-hash.test.ts'],
  },
  {
    id: 'ZS1',
    what: 'a part of another process is taken for the same without being compared',
    file: 'src/pipeline/stage/keep-part.ts',
    edits: [
      [
        'if (taken && taken.firstRecord === part.firstRecord && (await isSame(part, input, taken)))',
        'if (taken)',
      ],
    ],
    tests: ['test/pipeline/stage/two-at-once.test.ts'],
  },
  {
    id: 'ZS2',
    what: 'frames are not named by their content',
    file: 'src/state/keys/parts.ts',
    edits: [['.${sha256.slice(0, 16)}${BODY_ENDS[packing]}', '.${sha256.slice(0, 0)}${BODY_ENDS[packing]}']],
    tests: ['test/pipeline/stage/two-at-once.test.ts'],
  },
  {
    id: 'ZS3',
    what: 'a receipt of a slice that another process wrote meanwhile goes unnoticed',
    file: 'src/state/parts.ts',
    edits: [['?.equals(body)) throw', '?.equals(body) && false) throw']],
    tests: ['test/pipeline/stage/two-at-once.test.ts'],
  },
  {
    id: 'ZS4',
    what: 'a job of an older epoch stages',
    file: 'src/state/checkpoints.ts',
    edits: [['if (known === String(epoch)) return;', 'if (known !== null) return;']],
    tests: ['test/pipeline/stage/two-at-once.test.ts', 'test/jobs/stage-slice.test.ts'],
  },
  {
    id: 'AD-2',
    what: 'what was sent before others of its family were removed loses its fingerprint',
    file: 'src/pipeline/map-to-batches.ts',
    edits: [
      [
        '? findWithheldBefore(writer, events.length, rejected?.get(record))',
        '? findWithheld(writer, events, taken)',
      ],
    ],
    tests: ['test/pipeline/taken-events.test.ts'],
  },
  {
    id: 'AD-3',
    what: 'of two events of one record with one id, the one that was not accepted is lost',
    file: 'src/pipeline/taken-events.ts',
    edits: [['if (contested.has(key)) withheld.set(event, key);', '']],
    tests: ['test/pipeline/taken-events.test.ts', 'test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'XR4',
    what: 'what repeats a record that was sent before another one was removed is rejected',
    file: 'src/pipeline/map-to-batches.ts',
    edits: [['? undefined : fingerprints.find(writer.words);', '? undefined : undefined;']],
    tests: ['test/pipeline/taken-events.test.ts'],
  },
  {
    id: 'XO4',
    what: 'a record of very many items blocks its process when it is resumed',
    file: 'src/pipeline/taken-events.ts',
    edits: [['!accepted.has(key)', '!note.accepted?.includes(key)']],
    tests: ['test/pipeline/taken-events.test.ts'],
  },
  {
    id: 'XR12',
    what: 'equal items of one record with one id come twice out of a replay',
    file: 'src/pipeline/leave-out.ts',
    edits: [['hasOwnIds ? leaveOutEqual(all) : all;', 'all;']],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'FREE-6',
    what: 'memory of a batch that is still read is left to the next part',
    file: 'src/deliver/batch-builder.ts',
    edits: [
      ['    giveBuffer(text.bytes);\n', '    giveBuffer(text.bytes);\n    giveBuffer(this.last);\n'],
      [
        '    const written = bytes.subarray(this.#bytes, end);\n',
        '    this.last = bytes;\n    const written = bytes.subarray(this.#bytes, end);\n',
      ],
      ['  #pending: number[] = [];\n', '  #pending: number[] = [];\n  last: Buffer = NONE;\n'],
    ],
    tests: ['test/deliver/batch-builder.test.ts'],
  },
];
