import { z } from 'zod';
import { seedSchema } from '../../config/seed.ts';

/** Who may open the queue dashboard. */
export const queuesAccess = z.strictObject({
  user: z.string(),
  /** Read-only. */
  password: z.string(),
  /** With the right to retry, remove and pause jobs. @default none: nobody has that right */
  adminPassword: z.string().optional(),
});
export type QueuesAccess = z.infer<typeof queuesAccess>;

/** Settings of the bundled API, passed on unchanged. */
export const apiSettings = z.strictObject({
  /** Of each personal key. @default no limit */
  requestsPerMinute: z.number().int().positive().exactOptional(),
  /** Address for clients. @default the address of each request */
  publicUrl: z.string().exactOptional(),
  /** Addresses and networks whose `X-Forwarded-For` is believed. @default this machine and private networks */
  trustedProxies: z.array(z.string()).exactOptional(),
  /** Path of a MaxMind file. @default no place of an address is known */
  geoipFile: z.string().exactOptional(),
  /** When the events of deleted persons are deleted: five fields of cron, UTC. */
  deletionSchedule: z.string(),
  /** Where migrations are kept. @default a folder in the data folder */
  storage: z
    .strictObject({
      /** `s3://bucket/prefix`. @default a folder in the data folder */
      staging: z.string().exactOptional(),
      s3: z.strictObject({
        endpoint: z.string().exactOptional(),
        region: z.string().exactOptional(),
        accessKeyId: z.string().exactOptional(),
        secretAccessKey: z.string().exactOptional(),
        forcePathStyle: z.boolean().exactOptional(),
      }),
    })
    .exactOptional(),
  /** Definitions that the project has from the start. @default none */
  seed: seedSchema.exactOptional(),
});
export type ApiSettings = z.infer<typeof apiSettings>;

/**
 * First line of JSON from the supervisor to the API process. Keys and addresses are sent on stdin and not on
 * the command line, which every user of the machine can read. The API stops when its stdin closes, because
 * its supervisor has then ended.
 */
export const apiOrder = z.strictObject({
  dataDir: z.string(),
  /** A PostgreSQL address. @default the embedded database in the data folder */
  databaseUrl: z.string().exactOptional(),
  host: z.string(),
  port: z.number().int(),
  /** Keys that must exist once the API is ready. */
  bootstrap: z.strictObject({ projectKey: z.string(), personalKey: z.string() }),
  /** The queue dashboard, and the Redis whose queues it shows. */
  dashboard: z.strictObject({ redisUrl: z.string(), ...queuesAccess.shape }),
  settings: apiSettings,
  logLevel: z.string(),
});
export type ApiOrder = z.infer<typeof apiOrder>;

/** First line of JSON from the API process to the supervisor. */
export const apiReply = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('ready'),
    url: z.string(),
    /** Why the database is away, so that requests get a 503. @default the database is there */
    waitingFor: z.string().exactOptional(),
  }),
  /** `code` as in BackhaulError: `config` requires the operator to act. */
  z.strictObject({ kind: z.literal('failed'), code: z.string(), message: z.string() }),
]);
export type ApiReply = z.infer<typeof apiReply>;
