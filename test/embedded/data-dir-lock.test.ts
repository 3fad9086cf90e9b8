import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findOwner, isStillHeld, takeDataDirLock } from '../../src/embedded/data-dir-lock.ts';
import { createPrivateFile } from '../../src/embedded/private-file.ts';
import { readOwnIdentity, readProcessIdentity } from '../../src/embedded/process-identity.ts';
import { createDataDir } from './support.ts';

const take = (dataDir: string) => {
  const attempt = takeDataDirLock(dataDir);
  if (attempt.kind !== 'taken') throw new Error(`held by ${attempt.owner.pid}`);
  return attempt.lock;
};

test('a folder has one owner at a time, and a new one after a release', () => {
  const dataDir = createDataDir();
  const lock = take(dataDir);
  expect(takeDataDirLock(dataDir)).toEqual({
    kind: 'held',
    generation: lock.generation,
    owner: readOwnIdentity(),
  });
  expect(findOwner(dataDir)?.owner.pid).toBe(process.pid);
  lock.release();
  expect(findOwner(dataDir)).toBeUndefined();
  expect(isStillHeld(dataDir, lock.generation)).toBe(false);
  expect(take(dataDir).generation).toBe(lock.generation + 1);
  expect(readdirSync(dataDir)).toEqual([`owner.${lock.generation + 1}.lock`]);
});

test('a lock of a killed process is taken over, and the numbers rise', async () => {
  const dataDir = createDataDir();
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const exited = once(other, 'exit');
  const owner = readProcessIdentity(other.pid ?? 0);
  writeFileSync(join(dataDir, 'owner.7.lock'), JSON.stringify({ kind: 'owned', owner }));
  expect(takeDataDirLock(dataDir)).toEqual({ kind: 'held', generation: 7, owner });
  other.kill('SIGKILL');
  await exited;
  expect(take(dataDir).generation).toBe(8);
});

test('a slow process does not keep a number that others have been through meanwhile', () => {
  const dataDir = createDataDir();
  const dead = { ...readOwnIdentity(), started: 'long ago' };
  writeFileSync(join(dataDir, 'owner.1.lock'), JSON.stringify({ kind: 'owned', owner: dead }));
  let isSlow = true;
  const attempt = takeDataDirLock(dataDir, (path, content) => {
    if (isSlow) {
      // Others took 2 and released it, and hold 3, while this process was about to create 2.
      isSlow = false;
      rmSync(join(dataDir, 'owner.1.lock'));
      const owner = readOwnIdentity();
      writeFileSync(join(dataDir, 'owner.3.lock'), JSON.stringify({ kind: 'owned', owner }));
    }
    return createPrivateFile(path, content);
  });
  expect(attempt).toMatchObject({ kind: 'held', generation: 3 });
  expect(readdirSync(dataDir)).toEqual(['owner.3.lock']);
});

test('a reused pid is not taken for the owner', () => {
  const dataDir = createDataDir();
  const owner = { ...readOwnIdentity(), started: 'long ago' };
  writeFileSync(join(dataDir, 'owner.1.lock'), JSON.stringify({ kind: 'owned', owner }));
  expect(take(dataDir).generation).toBe(2);
});

test('many processes at a dead lock make exactly one owner', async () => {
  const dataDir = createDataDir();
  const owner = { ...readOwnIdentity(), started: 'long ago' };
  writeFileSync(join(dataDir, 'owner.1.lock'), JSON.stringify({ kind: 'owned', owner }));
  const built = new URL('../../dist/src/embedded/data-dir-lock.js', import.meta.url).href;
  // Each tries, says what it got, and lives on until its stdin closes.
  const script = `
    import { takeDataDirLock } from ${JSON.stringify(built)};
    process.stdout.write(takeDataDirLock(process.argv[1]).kind);
    process.stdin.resume();
  `;
  const racers = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const said = await Promise.all(racers.map(async (racer) => String((await once(racer.stdout, 'data'))[0])));
  for (const racer of racers) racer.stdin.end();
  await Promise.all(racers.map((racer) => once(racer, 'exit')));
  expect(said.sort()).toEqual(['held', 'held', 'held', 'held', 'held', 'taken']);
});

test('a folder of another machine is refused with a message that says what to do', () => {
  const dataDir = createDataDir();
  const owner = { pid: 1, started: 'then', host: `not-${hostname()}` };
  writeFileSync(join(dataDir, 'owner.3.lock'), JSON.stringify({ kind: 'owned', owner }));
  expect(findOwner(dataDir)).toBeUndefined();
  expect(() => takeDataDirLock(dataDir)).toThrow(/another machine.*BACKHAUL_DATA_DIR.*owner\.3\.lock/s);
});

test('a damaged lock is refused, not overrun', () => {
  const dataDir = createDataDir();
  writeFileSync(join(dataDir, 'owner.1.lock'), '{"kind":');
  expect(() => takeDataDirLock(dataDir)).toThrow(/damaged/);
  expect(readFileSync(join(dataDir, 'owner.1.lock'), 'utf8')).toBe('{"kind":');
});
