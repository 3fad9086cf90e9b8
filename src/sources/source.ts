import type { z } from 'zod';
import type { MapOutcome } from '../contract/outcome.ts';

/** Pure and total: any JSON object yields an outcome, the same one every time (I2, I7). */
export type MapRecord = (record: Readonly<Record<string, unknown>>) => MapOutcome;

/** What a new vendor adds: one of these, listed in sources.ts, and its golden files. */
export interface SourceType<Type extends string, Options> {
  readonly type: Type;
  /** Version of the mapping, pinned per migration; raised whenever the same record maps differently. */
  readonly version: number;
  /** What the manifest's `source` block may carry beside `type`, `from` and `timezone`. */
  readonly options: z.ZodType<Options>;
  /** Throws ConfigError for an unknown zone; the map it returns never throws. */
  readonly createMap: (options: Options & WithTimezone) => MapRecord;
  /** Names of the record fields that the map reads; `all` when none is left behind. */
  readonly knownFields: () => ReadonlySet<string> | 'all';
}

export interface WithTimezone {
  /** IANA zone of timestamps that carry none. */
  readonly timezone: string;
}
