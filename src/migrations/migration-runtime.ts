import type { Redis } from 'ioredis';
import type { PartMeta } from '../contract/part.ts';
import type { Staging } from '../contract/staging.ts';
import type { Logger } from '../lib/logger.ts';
import type { StagedSlice } from '../pipeline/stage/slice-groups.ts';
import type { SourceBucket } from '../sources/files/s3-file.ts';
import type { MigrationRecord } from '../state/migrations.ts';
import type { ImportRules } from './prepare/preflight.ts';
import type { DestinationDeps } from './resolve-destination.ts';
import type { WorkQueue } from './run/work-queue.ts';

/*
 * What the use cases of this room need, for runtime/ to construct. A use case takes one of these contexts and
 * plain inputs, and returns a plain result; it knows no terminal, exit code or queue library.
 */

/** Enough to look at migrations and to control them. */
export interface MigrationStore {
  readonly staging: Staging;
  readonly now: () => Date;
  /** Undefined where no Redis runs; starts none. Throws where one is configured and cannot be used. */
  askRedis<T>(ask: (redis: Redis) => Promise<T>): Promise<T | undefined>;
  /** Who is told of states of migrations; undefined: nobody. */
  readonly webhook?: Webhook | undefined;
}

/** Whom to tell. */
export interface Webhook {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** Whether addresses of this machine and of private networks are told. */
  readonly allowPrivate: boolean;
}

export interface SourceAccess {
  readonly now: () => Date;
  /** A bucket that a manifest names as its source. Each is opened once. */
  openSourceBucket(bucket: string): Promise<SourceBucket>;
}

/** Enough to plan and to check; staging is opened only when it is needed. */
export interface PlanContext extends SourceAccess {
  openStaging(): Promise<Staging>;
}

/** Enough to run migrations. */
export interface MigrationRuntime extends MigrationStore, SourceAccess, DestinationDeps {
  readonly redis: Redis;
  readonly log: Logger;
  /** @default the contract's; others only in tests, no setting leads here */
  readonly importRules?: ImportRules;
  /** Calls with why Redis cannot be used now, and with undefined once it can. Returns what stops it. */
  watchRedis(listener: (trouble: string | undefined) => void): () => void;
  /** The same of the buckets of staging and source. */
  watchStorage(listener: (trouble: string | undefined) => void): () => void;
  /** Aborts when an embedded part died for good; the run stops and can be resumed. */
  readonly failed: AbortSignal;
  /** The producer's side of the queues of one migration. */
  openQueue(migrationId: string): Promise<MigrationQueue>;
  /** This process's workers for the queues that all processes share. */
  startWorkers(producer: Producer): Promise<Closable>;
  /** Of these workers, only the one that stages slices on shared storage. */
  startSliceWorker(producer: Producer): Promise<Closable>;
  /** The producer's own worker for files that only it can reach. */
  startStaging(work: StagingWork): Promise<Closable>;
}

export interface MigrationQueue extends WorkQueue, Closable {
  /** Removes the queue that only this migration has, and its jobs from the others: those whose ids begin so. */
  forget(jobIdPrefix: string): Promise<void>;
}

export interface Producer {
  /** Migration that this process is the producer of. */
  readonly produces: string;
}

export interface StagingWork {
  readonly migration: MigrationRecord;
  /** Slices that only the producer can open. */
  readonly files: readonly StagedSlice[];
  /** Called for every part of a file, new or staged before. */
  readonly onPart: (part: PartMeta) => void;
}

export interface Closable {
  close(): Promise<void>;
}
