/**
 * One item of a `/batch/` request, in the contract's form: `distinct_id` sits inside `properties`.
 * All four fields depend on the source record and the mapping version alone (invariant I2).
 */
export interface TargetEvent {
  /** Non-empty, at most 200 characters. */
  readonly event: string;
  /** A valid UUID. The destination drops events whose uuid it has. */
  readonly uuid: string;
  /** ISO 8601 in UTC with milliseconds and `Z`. */
  readonly timestamp: string;
  readonly properties: EventProperties;
}

export interface EventProperties {
  /** Non-empty, at most 200 characters. */
  readonly distinct_id: string;
  readonly [key: string]: unknown;
}
