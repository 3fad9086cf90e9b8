import type { Redis } from 'ioredis';
import type { Staging } from '../contract/staging.ts';
import type { MigrationRecord } from '../migration/migration.ts';
import type { DriveDeps } from './drive.ts';
import type { StatusBoard } from './run-status.ts';

/** What the phases of one epoch share. */
export interface EpochRun {
  readonly record: MigrationRecord;
  readonly epoch: number;
  readonly staging: Staging;
  readonly redis: Redis;
  readonly board: StatusBoard;
  readonly driveDeps: Omit<DriveDeps, 'onSettled' | 'onProgress'>;
}
