import type { FactsIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import type { Pace } from '../../lib/async/pace.ts';
import type { LedgerTables } from '../../state/ledger/ledger-tables.ts';
import type { BucketRange, LoadLimits } from '../load-folds.ts';
import type { LedgerAtTurn } from '../resolve-persons.ts';

export interface ConnectOptions {
  readonly staging: Staging;
  /** Folder of this writer alone (I5). */
  readonly prefix: string;
  /** The identity facts of all parts; listed more than once. */
  readonly listFacts: () => Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  /** Those of other migrations that the ledger knows and that are still there. @default none */
  readonly listKnown?: () => Iterable<KnownFacts> | AsyncIterable<KnownFacts>;
  /** The facts at hand are all that the ledger was ever told. @default false */
  readonly isAll?: boolean;
  /** The ledger's table of persons that removed facts joined. @default no facts were removed */
  readonly removedJoins?: (() => Promise<LedgerTables | undefined>) | undefined;
  /** The ledger's table of ids that got another one. */
  readonly earlierIds: LedgerTables;
  /** The facts at hand are about to be removed: of whom ids are is kept where that is not decided. @default false */
  readonly isRemoving?: boolean;
  readonly ledger: LedgerAtTurn;
  /** Its table of ids. */
  readonly tables: LedgerTables;
  readonly signal: AbortSignal;
  readonly limits?: LoadLimits;
  /** @default KEPT */
  readonly kept?: Kept | undefined;
}

export interface KnownFacts extends FactsIndex {
  /** Their migration is still to send its persons, such as one that is held. @default false */
  readonly isWaiting?: boolean;
}

/** Entries in memory at a time, of about 150 bytes each. */
export interface Kept {
  /** Persons that the vendor joined. */
  readonly joined: number;
  /** Users with another id by now. */
  readonly renamed: number;
  /** Ids that some call renames, most of them of no user; the facts under ids are read once for each so many. */
  readonly candidates: number;
}

export const KEPT: Kept = { joined: 1_000_000, renamed: 500_000, candidates: 200_000 };

export interface Context extends Omit<ConnectOptions, 'removedJoins'> {
  readonly removedJoins: LedgerTables | undefined;
  readonly listKnown: () => Iterable<KnownFacts> | AsyncIterable<KnownFacts>;
  readonly pace: Pace;
  readonly limits: LoadLimits;
  readonly kept: Kept;
  /** Of the buckets of members. */
  readonly ranges: readonly BucketRange[];
  /** Of those of ids. */
  readonly idRanges: readonly BucketRange[];
}
