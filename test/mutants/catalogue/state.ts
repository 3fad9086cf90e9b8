import type { Mutant } from '../mutant.ts';

export const STATE_MUTANTS: readonly Mutant[] = [
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
    edits: [['await link(tmp, path);', 'await rename(tmp, path);']],
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
        `          await rename(tmp, path);
`,
        `          await rm(path, { force: true });
          await link(tmp, path);
`,
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
];
