import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '../lib/json/parse-json.ts';
import { putPrivateFile, readTextIfThere } from './private-file.ts';

/** The services that the owner of a data folder runs, for processes that attach. Mode 0600: it contains passwords and keys. */
export const services = z.strictObject({
  /** The lock under which it was published; another generation is from an owner that has ended. */
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

export function putServices(dataDir: string, published: Services): void {
  putPrivateFile(toServicesPath(dataDir), `${JSON.stringify(published, null, 2)}\n`);
}

/** Undefined until the owner of that generation has published its services. */
export function readServices(dataDir: string, generation: number): Services | undefined {
  const text = readTextIfThere(toServicesPath(dataDir));
  if (text === undefined) return undefined;
  const parsed = services.safeParse(tryParseJson(text));
  return parsed.success && parsed.data.generation === generation ? parsed.data : undefined;
}

/** Leaves those of another generation: an owner that lost the folder ends beside the next one. */
export function removeServices(dataDir: string, generation: number): void {
  if (readServices(dataDir, generation) === undefined) return;
  rmSync(toServicesPath(dataDir), { force: true });
}

const toServicesPath = (dataDir: string): string => join(dataDir, 'services.json');
