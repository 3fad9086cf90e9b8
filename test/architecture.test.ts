import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Which rooms a room may import. `contract`, `errors.ts` and `logger.ts` are open to all, and a room to
 * itself. A room that is missing here fails the test: a new room says first where it stands.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  contract: [],
  source: [],
  read: ['source'],
  stage: ['read', 'source'],
  staging: [],
  map: ['read'],
  deliver: [],
  checkpoint: [],
  people: ['map', 'read', 'deliver'],
  report: ['people'],
  migration: ['checkpoint', 'deliver', 'source'],
  import: ['checkpoint', 'deliver', 'migration', 'people', 'read', 'report'],
  plan: ['config', 'checkpoint', 'deliver', 'import', 'map', 'people', 'read', 'report', 'source', 'stage'],
  run: ['checkpoint', 'deliver', 'migration', 'people', 'report', 'source', 'stage'],
  supervise: [],
  sample: [],
  api: ['config', 'supervise', 'jobs', 'read', 'map'],
  config: ['map'],
  jobs: [
    'checkpoint',
    'deliver',
    'import',
    'map',
    'migration',
    'people',
    'read',
    'run',
    'source',
    'stage',
    'wire',
  ],
  wire: ['config', 'deliver', 'map', 'migration', 'source', 'staging', 'supervise'],
  cli: ['*'],
};
const OPEN_TO_ALL = new Set(['contract', 'errors', 'logger']);

interface Import {
  readonly from: string;
  readonly to: string;
}

/** `src/read/json.ts` → `read`, `src/wire-migrations.ts` → `wire`, `jobs/worker.ts` → `jobs`. */
function roomOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  if (top !== 'src') return top;
  return second.endsWith('.ts') ? (second.replace(/\.ts$/, '').split('-')[0] ?? '') : second;
}

function importsOf(folder: string): Import[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const from = join(folder, name);
      const text = readFileSync(join(ROOT, from), 'utf8');
      return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)].map(([, target]) => ({
        from,
        to: relative(ROOT, resolve(ROOT, dirname(from), target ?? '')),
      }));
    });
}

const imports = ['src', 'jobs', 'config'].flatMap(importsOf);

describe('the direction of imports', () => {
  it('is the one that ARCHITECTURE.md tells', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [room, other] = [roomOf(from), roomOf(to)];
      if (room === other || OPEN_TO_ALL.has(other) || OPEN_TO_ALL.has(room)) return false;
      const allowed = MAY_IMPORT[room];
      return !allowed?.includes(other) && !allowed?.includes('*');
    });
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('has no circles between rooms', () => {
    const edges = new Map<string, Set<string>>();
    for (const { from, to } of imports) {
      const [room, other] = [roomOf(from), roomOf(to)];
      if (room !== other) edges.set(room, (edges.get(room) ?? new Set()).add(other));
    }
    const circles: string[] = [];
    const walk = (room: string, path: readonly string[]) => {
      if (path.includes(room))
        return void circles.push([...path.slice(path.indexOf(room)), room].join(' → '));
      for (const next of edges.get(room) ?? []) walk(next, [...path, room]);
    };
    for (const room of edges.keys()) walk(room, []);
    expect([...new Set(circles)]).toEqual([]);
  });

  it('keeps the rooms of the API apart: they share its database and its common files only', () => {
    const roomsOfApi = [
      'ingest',
      'persons',
      'events',
      'dashboards',
      'projects',
      'deletions',
      'definitions',
      'members',
      'insights',
      'cohorts',
    ];
    const crossed = imports.filter(({ from, to }) => {
      const [a, b] = [from, to].map((path) => path.split('/').slice(0, 3));
      return (
        a?.[1] === 'api' &&
        b?.[1] === 'api' &&
        a[2] !== b[2] &&
        roomsOfApi.includes(a[2] ?? '') &&
        roomsOfApi.includes(b[2] ?? '')
      );
    });
    expect(crossed.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });
});

describe('what only one place may do', () => {
  const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const files = ['src', 'jobs', 'config'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );

  it('is to know BullMQ, for jobs/', () => {
    const knowing = files.filter((path) => /from '(bullmq|@bull-board\/[^']+)'/.test(text(path)));
    expect(knowing.filter((path) => !path.startsWith('jobs/'))).toEqual([]);
  });

  it('is to read the environment, for the command line, which hands it to config/', () => {
    const reading = files.filter((path) =>
      /process\.env\b/.test(text(path).replace(/\/\*\*[\s\S]*?\*\//g, '')),
    );
    expect(reading.filter((path) => !path.startsWith('src/cli/') && !path.startsWith('config/'))).toEqual([]);
  });
});
