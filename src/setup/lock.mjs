import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;
/** How long a process may take between creating the lock and writing its pid into it. */
const PID_TIMEOUT_MS = 5_000;

/** Runs one set-up per cache folder at a time. The others wait, and then find everything ready. */
export async function withLock(cache, log, work) {
  const lock = join(cache, 'setup.lock');
  mkdirSync(cache, { recursive: true });
  for (let tries = 0; !tryLock(lock); tries += 1) {
    if (isAbandoned(lock)) {
      removeAbandoned(lock);
      continue;
    }
    if (tries === 0) log('waiting for another set-up to finish');
    await sleep(POLL_MS);
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

function tryLock(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(lock, 'pid'), String(process.pid));
  return true;
}

function isAbandoned(lock) {
  try {
    const pid = Number(readFileSync(join(lock, 'pid'), 'utf8'));
    if (pid > 0) return !isRunning(pid);
  } catch {
    // no pid yet, or the lock was released
  }
  const folder = statSync(lock, { throwIfNoEntry: false });
  return folder !== undefined && Date.now() - folder.mtimeMs > PID_TIMEOUT_MS;
}

/**
 * Of several processes that find the same abandoned lock, one renames it and removes the copy. A lock that
 * was acquired in between has a live owner and is renamed back.
 */
function removeAbandoned(lock) {
  const moved = `${lock}.${process.pid}`;
  try {
    renameSync(lock, moved);
    if (isAbandoned(moved)) rmSync(moved, { recursive: true, force: true });
    else renameSync(moved, lock);
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
