import { z } from 'zod';
import { seedSchema } from '../../config/seed.ts';

/** Who may open the queue dashboard. */
export const queuesAccess = z.strictObject({
  user: z.string(),
  /** Read-only. */
  password: z.string(),
  /** With the right to retry, remove and pause jobs. Default: nobody has it. */
  adminPassword: z.string().optional(),
});
export type QueuesAccess = z.infer<typeof queuesAccess>;

/** What the operator settles about the bundled API, passed on as it is. */
export const apiSettings = z.strictObject({
  /** Of each personal key. Left out: no limit. */
  requestsPerMinute: z.number().int().positive().exactOptional(),
  /** Where clients reach it. Left out: wherever a request says. */
  publicUrl: z.string().exactOptional(),
  /** When the events of deleted persons go: five fields of cron, UTC. */
  deletionSchedule: z.string(),
  /** What the project of its keys has from the start. Left out: nothing. */
  seed: seedSchema.exactOptional(),
});
export type ApiSettings = z.infer<typeof apiSettings>;

/**
 * What the supervisor and the API process say to one another, a line of JSON each. Keys and addresses
 * travel on stdin and not on the command line, which every user of the machine can read. The API stops
 * when its stdin closes: its supervisor is gone then.
 */
export const apiOrder = z.strictObject({
  dataDir: z.string(),
  /** A PostgreSQL address. Default: the embedded database in the data folder. */
  databaseUrl: z.string().exactOptional(),
  host: z.string(),
  port: z.number().int(),
  /** Keys that must exist once the API answers. */
  bootstrap: z.strictObject({ projectKey: z.string(), personalKey: z.string() }),
  /** The queue dashboard, and the Redis whose queues it shows. */
  dashboard: z.strictObject({ redisUrl: z.string(), ...queuesAccess.shape }),
  settings: apiSettings,
  logLevel: z.string(),
});
export type ApiOrder = z.infer<typeof apiOrder>;

export const apiReply = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready'), url: z.string() }),
  /** `code` as in BackhaulError: `config` asks the operator to act. */
  z.strictObject({ kind: z.literal('failed'), code: z.string(), message: z.string() }),
]);
export type ApiReply = z.infer<typeof apiReply>;
