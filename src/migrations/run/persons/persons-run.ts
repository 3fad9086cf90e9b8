import type { Redis } from 'ioredis';
import type { Logger } from '../../../lib/logger.ts';
import type { LedgerAccess } from '../../../state/ledger/ledger.ts';
import type { LedgerDestination } from '../../persons/project/ledger-destination.ts';
import type { EpochRun } from '../import-phase.ts';

/** How a migration treats persons, and where. */
export interface PersonsSettings {
  /** The manifest holds them back, or more records were rejected than it allows. */
  readonly hold: boolean;
  readonly destination: LedgerDestination | undefined;
  /** Throws ConfigError where this process does not know the project key. */
  readonly resolveLedger: () => LedgerAccess;
  /** Whether the migration may end although the destination refused some of what was sent. */
  readonly acceptRefusals: boolean;
}

export interface PersonsRun extends EpochRun {
  readonly redis: Redis;
  readonly log: Logger;
  readonly now: () => Date;
  readonly persons: PersonsSettings;
}

/** The facts that a turn is about. */
export interface Facts {
  /** Migrations that they are of. */
  readonly of: readonly string[];
  readonly fingerprints: ReadonlyMap<string, string>;
  /** How many receipts each of them has. */
  readonly receipts: readonly number[];
  readonly bytes: number;
}
