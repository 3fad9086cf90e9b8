import type { Redis } from 'ioredis';
import type { Staging } from '../../contract/staging.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import type { StatusBoard } from './run-status.ts';
import type { SchedulerDeps } from './scheduler.ts';

/** What the phases of one epoch share. */
export interface EpochRun {
  readonly record: MigrationRecord;
  readonly epoch: number;
  readonly staging: Staging;
  readonly redis: Redis;
  readonly board: StatusBoard;
  readonly schedulerDeps: Omit<SchedulerDeps, 'onSettled' | 'onProgress'>;
}
