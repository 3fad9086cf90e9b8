import type { Mutant } from '../mutant.ts';

export const EMBEDDED_MUTANTS: readonly Mutant[] = [
  {
    id: 'V3',
    what: 'slow taker keeps a number that others have been through',
    file: 'src/embedded/data-dir-lock.ts',
    edits: [['if (Math.max(...generations) > generation) {', 'if (false) {']],
    tests: ['test/embedded'],
  },
  {
    id: 'V2',
    what: 'lock of another machine taken',
    file: 'src/embedded/data-dir-lock.ts',
    edits: [['if (owner.host === own.host) {', 'if (true) {']],
    tests: ['test/embedded'],
  },
  {
    id: 'YO1',
    what: 'a container takes the data folder of another one with its host name, as it does not see its process',
    file: 'src/embedded/data-dir-lock.ts',
    edits: [["if (owner.pids !== undefined && owner.pids !== own.pids) return 'unseen';", '']],
    tests: ['test/embedded/data-dir-lock.test.ts'],
  },
  {
    id: 'YO2',
    what: 'an owner of a data folder gives no signs of life',
    file: 'src/embedded/lock-beat.ts',
    edits: [
      [
        'const timer = setInterval(() => void beat(), BEAT_MS).unref();',
        'const timer = undefined; void beat;',
      ],
    ],
    tests: ['test/embedded/data-dir-lock.test.ts'],
  },
  {
    id: 'YO3',
    what: 'an owner whose data folder was taken while it stood still does not hear of it',
    file: 'src/embedded/lock-beat.ts',
    edits: [["if (error.code === 'ENOENT') onGone();", 'void onGone;']],
    tests: ['test/embedded/data-dir-lock.test.ts'],
  },
  {
    id: 'V4',
    what: 'reused pid counts as the owner',
    file: 'src/embedded/process-identity.ts',
    edits: [
      [
        'readProcessIdentity(identity.pid)?.started === identity.started',
        'readProcessIdentity(identity.pid) !== undefined',
      ],
    ],
    tests: ['test/embedded'],
  },
  {
    id: 'V7',
    what: 'release deletes the lock instead of a tombstone',
    file: 'src/embedded/data-dir-lock.ts',
    edits: [[`putPrivateFile(path, render({ kind: 'released' }))`, 'rmSync(path, { force: true })']],
    tests: ['test/embedded'],
  },
  {
    id: 'RO1',
    what: 'a benchmark that is told to end removes its folder before it ends what writes there, and leaves both',
    file: 'bench/lab/at-exit.ts',
    edits: [["process.prependOnceListener('exit', endOrLeave)", "process.once('exit', endOrLeave)"]],
    tests: ['test/bench/lab.test.ts'],
  },
  {
    id: 'RO2',
    what: 'the Redis of a benchmark wants to save into a folder that is gone, and never ends',
    file: 'bench/lab/redis.ts',
    edits: [[", '--save', ''", '']],
    tests: ['test/bench/lab.test.ts'],
  },
  {
    id: 'XO9',
    what: 'a Redis user without TIME or blocking commands makes a run wait for ever',
    file: 'src/cli/with-runtime.ts',
    edits: [['      await assertRights(redis);\n', '']],
    tests: ['test/runtime/reach-redis.test.ts'],
  },
  {
    id: 'LF1',
    what: 'an owner that lost the data folder ends its services as usual, which write to the files of the next one',
    file: 'src/embedded/supervisor.ts',
    edits: [['for (const child of children) child.abandon();', '']],
    tests: ['test/embedded/supervisor.test.ts'],
  },
  {
    id: 'LF2',
    what: 'an owner that lost the data folder while its services started writes over what the next one has published',
    file: 'src/embedded/supervisor.ts',
    edits: [['lock.assertHeld(); // what the next owner has published must stay', '']],
    tests: ['test/embedded/supervisor.test.ts'],
  },
  {
    id: 'LF3',
    what: 'a child that starts while the data folder is lost ends as usual, and writes to the files of the next owner',
    file: 'src/embedded/restart.ts',
    edits: [['if (isAbandoned) return current.abandon();', '']],
    tests: ['test/embedded/restart.test.ts'],
  },
];
