import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cachePath } from './cache.mjs';

const LOOK_EVERY_MS = 100;
/** Between making the folder and writing its pid a process is given this long. */
const UNNAMED_BOUND_MS = 5_000;

/** One set-up of a checkout at a time; the others wait, and then find everything done. */
export async function withLock(root, say, work) {
  const folder = cachePath(root, 'setup.lock');
  mkdirSync(dirname(folder), { recursive: true });
  for (let looks = 0; !take(folder); looks += 1) {
    if (isAbandoned(folder)) {
      bury(folder);
      continue;
    }
    if (looks === 0) say('waiting for another set-up of this checkout');
    await sleep(LOOK_EVERY_MS);
  }
  const release = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

function take(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(folder, 'pid'), String(process.pid));
  return true;
}

function isAbandoned(folder) {
  try {
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    if (pid > 0) return !isRunning(pid);
  } catch {
    // not named yet, or gone
  }
  const made = statSync(folder, { throwIfNoEntry: false });
  return made !== undefined && Date.now() - made.mtimeMs > UNNAMED_BOUND_MS;
}

/** Of several who find the same dead lock one moves it away; a live one moved by mistake is put back. */
function bury(folder) {
  const grave = `${folder}.${process.pid}`;
  try {
    renameSync(folder, grave);
    if (isAbandoned(grave)) rmSync(grave, { recursive: true, force: true });
    else renameSync(grave, folder);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY') throw error;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
