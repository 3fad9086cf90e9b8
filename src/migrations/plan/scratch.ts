import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadIfWhole } from '../../state/document.ts';
import { parsePlanRun, toPlanAliveKey, toPlanPrefix, toPlanRunPrefix } from '../../state/keys/plan.ts';
import { clearStaging } from '../../state/migrations.ts';

const alive = z.strictObject({ at: z.string() });

const NOTE_EVERY_MS = 60_000;
/** A run that has not noted for so long was killed. */
const DEAD_AFTER_MS = 10 * 60_000;

/**
 * Does the work of one `plan --full` in a folder of its own, which is removed at its end. What runs of the same name left
 * that were killed goes first: those that have not noted for ten minutes that they are there. One whose folder goes
 * because it slept for longer, or because clocks differ by so much, fails where it reads from it.
 */
export async function withScratch<T>(
  staging: Staging,
  name: string,
  now: () => Date,
  work: (prefix: string) => Promise<T>,
): Promise<T> {
  await clearDead(staging, name, now());
  const prefix = toPlanRunPrefix(name, randomUUID());
  const note = () => staging.put(toPlanAliveKey(prefix), encodeDocument({ at: now().toISOString() }));
  await note();
  let noting: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    noting = note().catch(() => {}); // the next one may do
  }, NOTE_EVERY_MS).unref();
  try {
    return await work(prefix);
  } finally {
    clearInterval(timer);
    await noting;
    await clearStaging(staging, prefix);
  }
}

async function clearDead(staging: Staging, name: string, now: Date): Promise<void> {
  const living = new Map<string, boolean>();
  const isLiving = async (run: string) => {
    const note = await loadIfWhole(alive, toPlanAliveKey(toPlanRunPrefix(name, run)), staging);
    return note !== undefined && now.getTime() - Date.parse(note.at) < DEAD_AFTER_MS;
  };
  for await (const { key } of staging.list(toPlanPrefix(name))) {
    const run = parsePlanRun(name, key);
    if (!living.has(run)) living.set(run, await isLiving(run));
    if (living.get(run) !== true) await staging.remove(key);
  }
}
