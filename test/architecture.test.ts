import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
/** More files side by side than this need a folder of their own. */
const MAX_FILES = 20;

/**
 * The table of ARCHITECTURE.md under "Direction of imports": a line a room, the room left of the arrow,
 * the rooms that it imports right of it. This test holds the code to exactly that table.
 */
function readDrawing(): Map<string, ReadonlySet<string>> {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const block = /```imports\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  return new Map(
    block
      .trim()
      .split('\n')
      .map((line) => {
        const [room = '', targets = ''] = line.split('→').map((side) => side.trim());
        return [room, new Set(targets.split(/\s+/).filter(Boolean))];
      }),
  );
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** `src/state/keys.ts` → `state`, `src/server/http/csv.ts` → `server/http`, `src/server/app.ts` → `server`. */
function findRoom(path: string): string {
  const [top = '', ...rest] = path.split('/');
  const [second = '', third = ''] = rest;
  if (top !== 'src') return top;
  return second === 'server' && rest.length > 2 ? `server/${third}` : second;
}

function listImports(path: string): Import[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)].map(([, target]) => ({
    from: path,
    to: relative(ROOT, resolve(ROOT, dirname(path), target ?? '')),
  }));
}

const files = ['src', 'jobs', 'config'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);
const crossings = files.flatMap(listImports).filter(({ from, to }) => findRoom(from) !== findRoom(to));
const drawing = readDrawing();

describe('the direction of imports', () => {
  it('is drawn for every room, and for no room that does not exist', () => {
    expect([...drawing.keys()].sort()).toEqual([...new Set(files.map(findRoom))].sort());
  });

  it('is the one that ARCHITECTURE.md draws', () => {
    const wrong = crossings.filter(({ from, to }) => !drawing.get(findRoom(from))?.has(findRoom(to)));
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('has every arrow that ARCHITECTURE.md draws', () => {
    const real = new Set(crossings.map(({ from, to }) => `${findRoom(from)} → ${findRoom(to)}`));
    const drawn = [...drawing].flatMap(([room, targets]) => [...targets].map((to) => `${room} → ${to}`));
    expect(drawn.filter((arrow) => !real.has(arrow))).toEqual([]);
  });

  it('points down only: a room imports rooms that stand above it in the table', () => {
    const order = [...drawing.keys()];
    const up = [...drawing].flatMap(([room, targets]) =>
      [...targets].filter((to) => order.indexOf(to) >= order.indexOf(room)).map((to) => `${room} → ${to}`),
    );
    expect(up).toEqual([]);
  });
});

describe('the size of rooms', () => {
  it(`is at most ${MAX_FILES} files side by side`, () => {
    const counts = new Map<string, number>();
    for (const path of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  });
});

describe('what only one place may do', () => {
  const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

  it('jobs/ alone imports BullMQ', () => {
    const importing = files.filter((path) => /from '(bullmq|@bull-board\/[^']+)'/.test(text(path)));
    expect(importing.filter((path) => !path.startsWith('jobs/'))).toEqual([]);
  });

  it('the command line alone reads the environment, and hands it to config/', () => {
    const reading = files.filter((path) =>
      /process\.env\b/.test(text(path).replace(/\/\*\*[\s\S]*?\*\//g, '')),
    );
    expect(reading.filter((path) => !path.startsWith('src/cli/') && !path.startsWith('config/'))).toEqual([]);
  });

  it('no signal follows a timeout: in Node.js 20 the timeout may be collected, and never comes', () => {
    // https://github.com/nodejs/node/issues/57736
    const following = files.filter((path) => /AbortSignal\.any\([^)]*AbortSignal\.timeout/.test(text(path)));
    expect(following).toEqual([]);
  });
});
