import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  acquireDataDirLock,
  findOwner,
  isStillHeld,
  takeDataDirLock,
} from '../../src/embedded/data-dir-lock.ts';
import { hasChanged } from '../../src/embedded/lock-beat.ts';
import { createPrivateFile } from '../../src/embedded/private-file.ts';
import { readOwnIdentity, readProcessIdentity } from '../../src/embedded/process-identity.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { createDataDir } from './support.ts';

const NOBODY = 65_534;

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

test('a folder of another user is for that user, and none may be read in it', () => {
  const dataDir = createDataDir();
  take(dataDir).release();
  const isRoot = process.getuid?.() === 0;
  for (const [path, open] of [
    [join(dataDir, 'owner.1.lock'), 0o600],
    [dataDir, 0o700],
  ] as const) {
    if (path !== dataDir) chmodSync(dataDir, 0o777);
    chmodSync(path, isRoot ? open : 0o000);
    if (isRoot) process.seteuid?.(NOBODY); // nothing keeps root out
    try {
      for (const act of [() => takeDataDirLock(dataDir), () => findOwner(dataDir)]) {
        expect(act).toThrow(ConfigError);
        expect(act).toThrow(`${path} cannot be read by this user`);
      }
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(path, open);
    }
  }
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
  const create = (path: string, content: string) => {
    if (isSlow) {
      // Others took 2 and released it, and hold 3, while this process was about to create 2.
      isSlow = false;
      rmSync(join(dataDir, 'owner.1.lock'));
      const owner = readOwnIdentity();
      writeFileSync(join(dataDir, 'owner.3.lock'), JSON.stringify({ kind: 'owned', owner }));
    }
    return createPrivateFile(path, content);
  };
  const attempt = takeDataDirLock(dataDir, { create });
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

/** Of a process in another container, or of an earlier start of this machine. */
const unseen = { ...readOwnIdentity(), pids: 'elsewhere' };

test('an owner that cannot be seen keeps the folder as long as it gives signs of life', async () => {
  const dataDir = createDataDir();
  const path = join(dataDir, 'owner.3.lock');
  const content = JSON.stringify({ kind: 'owned', owner: unseen });
  writeFileSync(path, content);
  let atMs = 1_000;
  const beating = setInterval(() => {
    atMs += 1;
    utimesSync(path, atMs / 1_000, atMs / 1_000);
  }, 100);
  onTestFinished(() => clearInterval(beating));
  await expect(acquireDataDirLock(dataDir)).rejects.toThrow(
    /in another container \(process \d+, with the host name .+ as here\).*BACKHAUL_DATA_DIR/s,
  );
  expect(readFileSync(path, 'utf8')).toBe(content);
});

test('an owner that cannot be seen and gives no sign of life has ended', async () => {
  const dataDir = createDataDir();
  writeFileSync(join(dataDir, 'owner.3.lock'), JSON.stringify({ kind: 'owned', owner: unseen }));
  const waitedFor: unknown[] = [];
  const attempt = await acquireDataDirLock(dataDir, {
    silentMs: 600,
    onUnseen: (owner) => waitedFor.push(owner),
  });
  expect(attempt).toMatchObject({ kind: 'taken', lock: { generation: 4 } });
  expect(waitedFor).toEqual([unseen]);
});

test('an owner that was killed here is not waited for, nor one of a version that gave no signs', async () => {
  const { pids: _, ...earlier } = readOwnIdentity();
  for (const owner of [readOwnIdentity(), earlier]) {
    const dataDir = createDataDir();
    const lock = { kind: 'owned', owner: { ...owner, started: 'long ago' } };
    writeFileSync(join(dataDir, 'owner.1.lock'), JSON.stringify(lock));
    expect(takeDataDirLock(dataDir).kind).toBe('taken');
    writeFileSync(join(dataDir, 'owner.5.lock'), JSON.stringify({ kind: 'owned', owner }));
    expect(takeDataDirLock(dataDir)).toMatchObject({ kind: 'held', generation: 5 });
  }
});

test('an owner gives signs of life until it releases the folder', async () => {
  const dataDir = createDataDir();
  const lock = take(dataDir);
  const path = join(dataDir, `owner.${lock.generation}.lock`);
  expect(await hasChanged(path, 10_000)).toBe(true);
  expect(await hasChanged(path, 10_000)).toBe(true);
  lock.release();
  expect(await hasChanged(path, 2_500)).toBe(false);
});

test('an owner that stood still hears that another process has the folder by now', async () => {
  const dataDir = createDataDir();
  const lock = take(dataDir);
  const lost = new Promise<Error>((resolve) => lock.onLost(resolve));
  writeFileSync(join(dataDir, 'owner.2.lock'), JSON.stringify({ kind: 'owned', owner: unseen }));
  rmSync(join(dataDir, 'owner.1.lock'));
  expect((await lost).message).toMatch(/^Another process has taken the data folder /);
  let heard: Error | undefined;
  lock.onLost((error) => {
    heard = error;
  });
  expect(heard, 'also who asks later').toBe(await lost);
  lock.release();
  expect(readdirSync(dataDir)).toEqual(['owner.2.lock']);
});

/** As in a container: with pids of its own, and the host name of this machine. */
const IN_CONTAINER = ['--pid', '--fork', '--kill-child', '--mount-proc'];
const hasContainers = (() => {
  try {
    execFileSync('unshare', [...IN_CONTAINER, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // it takes Linux, and root
  }
})();

test.skipIf(!hasContainers)('a container with the host name of another takes no folder from it', async () => {
  const dataDir = createDataDir();
  const lock = take(dataDir);
  const built = new URL('../../dist/src/embedded/data-dir-lock.js', import.meta.url).href;
  const script = `
    import { acquireDataDirLock } from ${JSON.stringify(built)};
    const attempt = await acquireDataDirLock(process.argv[1]).catch((error) => ({ kind: error.message }));
    process.stdout.write(attempt.kind);
  `;
  const node = [process.execPath, '--input-type=module', '-e', script, dataDir];
  const { stdout } = await promisify(execFile)('unshare', [...IN_CONTAINER, ...node]);
  expect(stdout).toMatch(/belongs to a process .* in another container/);
  expect(isStillHeld(dataDir, lock.generation)).toBe(true);
});

test('a damaged lock is refused, not overrun', () => {
  const dataDir = createDataDir();
  writeFileSync(join(dataDir, 'owner.1.lock'), '{"kind":');
  expect(() => takeDataDirLock(dataDir)).toThrow(/damaged/);
  expect(readFileSync(join(dataDir, 'owner.1.lock'), 'utf8')).toBe('{"kind":');
});

test('an owner gives signs of life while whatever reads files stands still', async () => {
  const dataDir = createDataDir();
  onTestFinished(take(dataDir).release);
  // As a share that is away, or a name server that answers nothing, takes every thread that files are read by.
  const pipe = join(dataDir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const readers = Array.from({ length: 8 }, () => open(pipe, 'r'));
  try {
    expect(await hasChanged(join(dataDir, 'owner.1.lock'), 4_000)).toBe(true);
  } finally {
    const writer = openSync(pipe, constants.O_RDWR);
    for (const reader of readers) await (await reader).close();
    closeSync(writer);
  }
});
