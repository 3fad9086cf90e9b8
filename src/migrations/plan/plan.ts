import type { MapOutcome, RejectReason, SkipReason } from '../../contract/outcome.ts';
import type { Window } from '../../pipeline/limit-to-window.ts';
import type { StagingSpace } from '../../pipeline/stage/plan-space.ts';
import type { ListFieldFates, MapNote, Source } from '../../sources/source.ts';
import type { SharedDevices } from '../../state/ledger/ledger.ts';
import type { EventTimes } from './event-times.ts';
import type { SampledPeople } from './sample-people.ts';

/** What is read before planning: all files by name and size, and the first records of some of them. */
export interface PlanInput {
  readonly migration: string;
  readonly source: {
    readonly type: string;
    /** Zone assumed for timestamps that carry none. */
    readonly timezone: string;
    /** The source's `geoip`. */
    readonly geoip?: string | undefined;
    /** Record fields that the source's map reads. */
    readonly knownFields: ReadonlySet<string> | 'all';
    /** What becomes of each field of a record, where the source says so. */
    readonly listFieldFates?: ListFieldFates | undefined;
    /** The source's own: without it nothing of a record is hidden. */
    readonly hideHashed?: Source['hideHashed'];
  };
  /** Address of the service; undefined for the bundled API. */
  readonly destination: string | undefined;
  /** Name of the events that carry group properties. */
  readonly groupIdentifyEvent: string;
  /** Property of events with the name of the migration. @default `$import_job_id` */
  readonly importId?: string | false;
  readonly limits: PlanLimits;
  readonly approval: Approval | undefined;
  /** Whose an anonymous id is that was seen with several users. */
  readonly sharedDevices?: SharedDevices;
  readonly files: readonly PlanFile[];
  readonly sample: readonly SampledFile[];
  /** The manifest's, as moments in UTC. */
  readonly window?: Window | undefined;
  /** What the map noted about the sampled records, and how often. */
  readonly notes?: ReadonlyMap<MapNote, number>;
  /** What the manifest names and no sampled record has, in sentences. */
  readonly unmatched: readonly string[];
  /** Only to flag young events: nothing that is sent depends on it. */
  readonly now: Date;
}

/** The manifest's `limits`. */
export interface PlanLimits {
  readonly eventsPerMinute?: number;
  readonly requestsInFlight: number;
  readonly batch: { readonly events: number; readonly bytes: number };
}

/** The manifest's `approval`. */
export interface Approval {
  readonly reference: string;
  readonly eventsPerMinute?: number;
  readonly totalEvents?: number;
}

export interface PlanFile {
  readonly name: string;
  /** As stored, compressed or not. */
  readonly bytes: number;
}

/** The beginning of one file. */
export interface SampledFile {
  /** One of the files' names. */
  readonly file: string;
  /** Bytes of the file that were read, as stored. */
  readonly bytesRead: number;
  /** Records found in those bytes; at least as many as are kept in `records`. */
  readonly recordsRead: number;
  /** Whether the file was read to its end, so that `recordsRead` is no estimate. */
  readonly complete: boolean;
  readonly records: readonly SampledRecord[];
}

export interface SampledRecord {
  /** The record's text in the file. */
  readonly text: string;
  /** Undefined where the record cannot be read. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  readonly outcome: MapOutcome;
}

/** What a run would do, estimated from a sample. Plain JSON. */
export interface Plan {
  readonly migration: string;
  readonly source: {
    readonly type: string;
    readonly timezone: string;
    readonly geoip?: string;
  };
  /** Address of the service, or `bundled`. */
  readonly destination: string;
  /** Name of the events that carry group properties. */
  readonly groupIdentifyEvent: string;
  readonly limits: PlanLimits;
  readonly approval: Approval | undefined;
  readonly sharedDevices?: SharedDevices;
  readonly files: readonly (PlanFile & { readonly records: number; readonly sampled: boolean })[];
  readonly bytes: number;
  /** Events outside are skipped; `until` itself is out. */
  readonly window?: Window;
  readonly sample: { readonly files: number; readonly records: number };
  readonly records: Estimate;
  /** Without synthetic events: those are known when all identity facts are folded. */
  readonly events: Estimate;
  /** Of the sampled events: ISO 8601, UTC. */
  readonly timeSpan: { readonly from: string; readonly to: string } | undefined;
  readonly eventsByName: readonly {
    readonly event: string;
    readonly inSample: number;
    readonly estimated: number;
  }[];
  readonly times: EventTimes;
  /** Of the sample. */
  readonly people: SampledPeople;
  /** Fields of the sampled records: at every depth (`context.page.url`) where the source says so. */
  readonly fields: {
    /** They become what the destination knows by name. */
    readonly mapped: readonly string[];
    /** They are passed on as they are. */
    readonly kept?: readonly { readonly field: string; readonly inSample: number }[];
    /** They stay behind. */
    readonly unmapped: readonly { readonly field: string; readonly inSample: number }[];
  };
  readonly pairs: readonly Pair[];
  readonly skips: readonly Expected<SkipReason>[];
  readonly rejects: readonly (Expected<RejectReason> & { readonly file: string; readonly example: string })[];
  /** What was done to sampled records beside their outcome. */
  readonly notes?: readonly {
    readonly note: MapNote;
    readonly inSample: number;
    readonly estimated: number;
  }[];
  /** What the sample shows that is likely a mistake, in sentences. */
  readonly warnings: readonly string[];
  /** Sampled events younger than 48 hours, which a service may count as live traffic. */
  readonly youngEvents: number;
  /** The space that parts will need in staging. */
  readonly staging?: StagingSpace & { readonly location: string };
  /** At the allowed rate; undefined where nothing limits it. */
  readonly durationMinutes: number | undefined;
}

export interface Estimate {
  readonly count: number;
  /** Every file was read to its end. */
  readonly exact: boolean;
}

export interface Expected<Reason> {
  readonly reason: Reason;
  readonly inSample: number;
  readonly estimated: number;
}

/** A record and the first event it becomes, as name and value, ready to be shown side by side. */
export interface Pair {
  readonly file: string;
  readonly record: readonly Field[];
  readonly event: readonly Field[];
}

export type Field = readonly [name: string, value: string];
