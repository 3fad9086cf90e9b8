import type { Mutant } from '../mutant.ts';

export const STATE_MUTANTS: readonly Mutant[] = [
  {
    id: 'LIFE-1',
    what: 'a state that a removed migration entered taken for that of the next one of its name',
    file: 'src/state/control.ts',
    edits: [["owner === id ? value : 'of_another'", "owner === '' ? 'of_another' : value"]],
    tests: ['test/migrations/removed-at-the-end.test.ts'],
  },
  {
    id: 'FOLDER-1',
    what: 'a full disk is taken for a folder that is gone',
    file: 'src/lib/make-folder.ts',
    edits: [['    if (!isMissing(error)) throw error;\n    await makeOneByOne(path);', '    throw error;']],
    tests: ['test/state/staging/odd-file-systems.test.ts'],
  },
  {
    id: 'COND-1',
    what: 'objects are created on a server that lets two writers create each of them',
    file: 'src/state/staging/s3.ts',
    edits: [['if (!isCreatedAgain) return;', 'if (isCreatedAgain || !isCreatedAgain) return;']],
    tests: ['test/state/staging/s3-conditional.test.ts'],
  },
  {
    id: 'RELEASES-1',
    what: 'of two releases of one migration only the later one is known',
    file: 'src/state/keys/migration.ts',
    edits: [['${by}/${toOrdinal(turn)}', '${by.slice(0, 1)}/${toOrdinal(Math.min(turn, 1))}']],
    tests: ['test/migrations/persons/released-together.test.ts'],
  },
  {
    id: 'LIFE-2',
    what: 'the report of a removed migration taken for that of the next one of its name',
    file: 'src/state/keys/migration.ts',
    edits: [["(id === undefined ? '' : `-${id.slice(0, 8)}`)", "(id === '' ? id : '')"]],
    tests: ['test/migrations/removed-at-the-end.test.ts'],
  },
  {
    id: 'SN1',
    what: 'parts lie below the name of their migration, not its id',
    file: 'src/state/keys/parts.ts',
    edits: [['  partsById ? `${name}/staged/${id}/` : `${name}/`;', '  `${name}/`;']],
    tests: ['test/migrations/removed-meanwhile.test.ts'],
  },
  {
    id: 'SN6',
    what: 'a worker of a removed migration replaces what another one of its name left',
    file: 'src/state/keys/segments.ts',
    edits: [['(partsById ? `${segment}${toOwn(id)}` : segment)', 'segment']],
    tests: ['test/state/part-store.test.ts'],
  },
  {
    id: 'SN7',
    what: 'a worker of a removed migration removes the receipt of another one of its name',
    file: 'src/state/receipts.ts',
    edits: [['if (record && record.id !== receipt.migration)', 'if (record && record.id === "")']],
    tests: ['test/state/receipts.test.ts'],
  },
  {
    id: 'SN4',
    what: 'a migration that comes back from another place counts as removed',
    file: 'src/state/part-store.ts',
    edits: [["  if (control?.state === 'importing') return false;\n", '']],
    tests: ['test/state/part-store.test.ts'],
  },
  {
    id: 'K5',
    what: 'expiry of a taken-up part not renewed',
    file: 'src/state/checkpoints.ts',
    edits: [
      [
        `if redis.call('PTTL', KEYS[2]) > 0 then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
`,
        '',
      ],
    ],
    tests: ['test/state'],
  },
  {
    id: 'G1',
    what: 'create replaces an existing object',
    file: 'src/state/staging/folder.ts',
    edits: [['() => link(tmp, path));', '() => rename(tmp, path));']],
    tests: ['test/state/staging'],
  },
  {
    id: 'G3',
    what: 'files of living writers swept',
    file: 'src/state/staging/folder.ts',
    edits: [['if (info && Date.now() - info.mtimeMs > STALE_TMP_MS)', 'if (info)']],
    tests: ['test/state/staging'],
  },
  {
    id: 'G4',
    what: 'body written in place, not renamed',
    file: 'src/state/staging/folder.ts',
    edits: [
      [
        '() => rename(tmp, path));',
        `async () => {
            await removeFile(path);
            await link(tmp, path);
          });`,
      ],
    ],
    tests: ['test/state/staging'],
  },
  {
    id: 'G5',
    what: 'list order by name only',
    file: 'src/state/staging/folder.ts',
    edits: [
      [
        `parent + entry.name + (entry.isDirectory() ? '/' : ''))
    .filter((name) => name.startsWith(prefix))
    .sort((a, b) => (a < b ? -1 : 1));`,
        `parent + entry.name + (entry.isDirectory() ? '/' : ''))
    .filter((name) => name.startsWith(prefix))
    .sort((a, b) => (a.replace(/\\/$/, '') < b.replace(/\\/$/, '') ? -1 : 1));`,
      ],
    ],
    tests: ['test/state/staging'],
  },
  {
    id: 'K6',
    what: 'FORGET by a zombie removes the newer worker checkpoint',
    file: 'src/state/checkpoints.ts',
    edits: [
      [
        `if redis.call('HGET', KEYS[2], 'counter') ~= ARGV[2] then return 0 end
redis.call('HDEL'`,
        `redis.call('HDEL'`,
      ],
    ],
    tests: ['test/state'],
  },
  {
    id: 'KS1',
    what: 'a copy is left although Redis refused its writer',
    file: 'src/state/staged-checkpoints.ts',
    edits: [
      [
        `      await redis.save(fence, checkpoint);
      const now`,
        '      const now',
      ],
      [
        `      stagedAtMs = now;
`,
        `      stagedAtMs = now;
      await redis.save(fence, checkpoint);
`,
      ],
    ],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KS2',
    what: 'copies are never loaded',
    file: 'src/state/staged-checkpoints.ts',
    edits: [['checkpoint: await loadStaged(deps, fence)', 'checkpoint: undefined']],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KS3',
    what: 'the oldest copy is taken',
    file: 'src/state/staged-checkpoints.ts',
    edits: [['compareFences(b.fence, a.fence)', 'compareFences(a.fence, b.fence)']],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KS4',
    what: 'the counter outranks the epoch',
    file: 'src/state/staged-checkpoints.ts',
    edits: [['a.epoch - b.epoch || a.counter - b.counter', 'a.counter - b.counter || a.epoch - b.epoch']],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KS5',
    what: 'a copy of another mapping is believed',
    file: 'src/state/staged-checkpoints.ts',
    edits: [
      [
        `      staged.mapping === record.mapping &&
`,
        '',
      ],
    ],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KS6',
    what: 'a copy of another cut of the source is believed',
    file: 'src/state/staged-checkpoints.ts',
    edits: [
      [
        `      staged.partSha256 === part.sha256 &&
`,
        '',
      ],
    ],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KSR',
    what: 'a checkpoint of another cut of the source is believed in Redis',
    file: 'src/state/staged-checkpoints.ts',
    edits: [['if (begun.checkpoint?.partSha256 === part.sha256) return', 'if (begun.checkpoint) return']],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'EPM',
    what: 'the epoch of another migration is run in place of the own one',
    file: 'src/state/epochs.ts',
    edits: [['if (named !== name)', 'if (named === undefined)']],
    tests: ['test/state/epochs.test.ts'],
  },
  {
    id: 'FC1',
    what: 'text of identity facts is believed without its checksum',
    file: 'src/state/facts/fact-object.ts',
    edits: [['for (const section of sections) verifySection(body, offset, section);', '']],
    tests: ['test/state/facts/fact-object.test.ts'],
  },
  {
    id: 'FC2',
    what: 'checksums are compared of the first of neighbouring sections alone',
    file: 'src/identity/load-folds.ts',
    edits: [['sections: [...(before.sections ?? []), ...(range.sections ?? [])],', '']],
    tests: ['test/identity/load-folds.test.ts'],
  },
  {
    id: 'RPK',
    what: 'the repeats of another migration are believed',
    file: 'src/state/repeats.ts',
    edits: [['return own === key && ', 'return ']],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'RPR',
    what: 'a result over other fingerprints is believed',
    file: 'src/state/repeats.ts',
    edits: [[' && (rows ?? found.rows) === found.rows', '']],
    tests: ['test/migrations/run/repeats-phase.test.ts'],
  },
  {
    id: 'KS9',
    what: 'what a removed migration was accepted with counts for the next of its name',
    file: 'src/state/keys/migration.ts',
    edits: [['`${prefix}accepted${toOwn(id)}${JSON_END}`', '`${prefix}accepted${id ? JSON_END : JSON_END}`']],
    tests: ['test/migrations/prepare/compare-manifest.test.ts'],
  },
  {
    id: 'EPO2',
    what: 'the epoch of a removed migration is that of the next of its name',
    file: 'src/state/epochs.ts',
    edits: [
      ["return of === (id ?? of) ? epoch : 'of_another';", 'return of === (id ?? of) ? epoch : epoch;'],
    ],
    tests: ['test/migrations/foreign-epochs.test.ts'],
  },
  {
    id: 'EPO3',
    what: 'a number that the epoch of another migration took ends the producer of this one',
    file: 'src/state/epochs.ts',
    edits: [
      [
        "    if (existing === 'of_another') continue;\n",
        "    if (existing === 'of_another') return undefined;\n",
      ],
    ],
    tests: ['test/migrations/foreign-epochs.test.ts'],
  },
  {
    id: 'KS10',
    what: 'how many events a removed migration had counts for the next of its name',
    file: 'src/state/keys/migration.ts',
    edits: [['`${prefix}volume${toOwn(id)}${JSON_END}`', '`${prefix}volume${id ? JSON_END : JSON_END}`']],
    tests: ['test/migrations/volume.test.ts'],
  },
  {
    id: 'KS11',
    what: 'the key that a removed migration hashed with counts for the next of its name',
    file: 'src/state/keys/migration.ts',
    edits: [['`${prefix}hash-key${toOwn(id)}${JSON_END}`', '`${prefix}hash-key${id ? JSON_END : JSON_END}`']],
    tests: ['test/migrations/window.test.ts'],
  },
  {
    id: 'KS7',
    what: 'a copy of a later holder is believed',
    file: 'src/state/staged-checkpoints.ts',
    edits: [['if (fence && compareFences(fence, own) < 0)', 'if (fence)']],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KS8',
    what: 'copies stay behind the receipt',
    file: 'src/state/staged-checkpoints.ts',
    edits: [['await staging.remove(key);', '']],
    tests: ['test/state/staged-checkpoints.test.ts'],
  },
  {
    id: 'KF1',
    what: 'a zombie of before a wipe forgets the checkpoint of a newer epoch',
    file: 'src/state/checkpoints.ts',
    edits: [
      [
        `const FORGET = \`
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return 0 end
`,
        `const FORGET = \`
`,
      ],
    ],
    tests: ['test/state/checkpoints.test.ts'],
  },
  {
    id: 'RM1',
    what: 'personal data that a sleeping worker writes after its migration was removed stays in staging',
    file: 'src/state/part-store.ts',
    edits: [['    await staging.remove(saved.key);\n', '']],
    tests: ['test/state/part-store.test.ts'],
  },
  {
    id: 'RM2',
    what: 'what a worker of a forgotten migration writes late stays with another of its name',
    file: 'src/state/part-store.ts',
    edits: [['record?.id !== own.id || ', 'record === undefined || own.id === "" || ']],
    tests: ['test/state/part-store.test.ts'],
  },
  {
    id: 'MG1',
    what: 'a migration whose creation was answered too late is taken for that of another process',
    file: 'src/state/migrations.ts',
    edits: [['return found?.equals(body) ?? false;', 'return false;']],
    tests: ['test/state/document.test.ts'],
  },
  {
    id: 'XO10',
    what: 'a run stands still for minutes without a word, because S3 takes requests and answers none',
    file: 'src/state/staging/silence.ts',
    edits: [['looks < SILENT_AFTER_LOOKS || !first', 'looks < 60 || !first']],
    tests: ['test/state/staging/silence.test.ts'],
  },
  {
    id: 'XO11',
    what: 'an S3 that answers again is said to be silent for ever',
    file: 'src/state/staging/silence.ts',
    edits: [['isSilent = false;\n      onChange(undefined);', 'isSilent = false;']],
    tests: ['test/state/staging/silence.test.ts'],
  },
  {
    id: 'ZF1',
    what: 'a damaged part in a folder is believed',
    file: 'src/state/parts.ts',
    edits: [['if (staging.isOfEtag?.(meta.etag, body)) return;', 'if (staging.isOfEtag) return;']],
    tests: ['test/pipeline/stage/packing.test.ts'],
  },
  {
    id: 'SLOW-1',
    what: 'an S3 that takes a large body slowly is said to be silent',
    file: 'src/state/staging/s3-bucket.ts',
    edits: [['  watchUploads(client, silence.noteProgress);', '  watchUploads(client, () => {});']],
    tests: ['test/state/staging/silence.test.ts'],
  },
  {
    id: 'HALF-2',
    what: 'a run waits for ever for an S3 whose answer comes byte by byte',
    file: 'src/lib/async/abort.ts',
    edits: [['if (looks === LOOKS) late', 'if (looks < 0) late']],
    tests: ['test/state/staging/s3-late.test.ts'],
  },
  {
    id: 'HALF-3',
    what: 'one request to S3 whose connection is lost without a word ends a run',
    file: 'src/state/staging/sit-out.ts',
    edits: [['  let sinceMs: number | undefined;', '  let sinceMs: number | undefined = patience.now();']],
    tests: ['test/state/staging/sit-out.test.ts'],
  },
];
