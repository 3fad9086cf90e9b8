import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { putPrivateFile, readTextIfThere } from './private-file.ts';

/** What the owner of a data folder runs, for those who attach. Mode 0600: it carries passwords and keys. */
export const services = z.strictObject({
  /** The lock under which it was published; anything else is what a dead owner left behind. */
  generation: z.number().int(),
  redisUrl: z.string(),
  api: z
    .strictObject({
      url: z.string(),
      projectKey: z.string(),
      personalKey: z.string(),
      queues: z.strictObject({ user: z.string(), password: z.string() }),
    })
    .optional(),
});
export type Services = z.infer<typeof services>;

export function putServices(dataDir: string, running: Services): void {
  putPrivateFile(servicesPath(dataDir), `${JSON.stringify(running, null, 2)}\n`);
}

/** Undefined until the owner of that generation has published. */
export function readServices(dataDir: string, generation: number): Services | undefined {
  const text = readTextIfThere(servicesPath(dataDir));
  if (text === undefined) return undefined;
  const parsed = services.safeParse(JSON.parse(text));
  return parsed.success && parsed.data.generation === generation ? parsed.data : undefined;
}

export function removeServices(dataDir: string): void {
  rmSync(servicesPath(dataDir), { force: true });
}

const servicesPath = (dataDir: string): string => join(dataDir, 'services.json');
