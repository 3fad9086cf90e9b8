import { PropertyList } from '../lib/json/property-list.ts';

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

/** An event as a map makes it for the import: written straight as text, without an object of its properties. */
export interface MappedEvent extends Omit<TargetEvent, 'properties'> {
  readonly properties: EventProperties | PropertyList;
}

/** The same event with its properties as an object, for plans and tests. */
export const toTargetEvent = ({ properties, ...event }: MappedEvent): TargetEvent => ({
  ...event,
  properties: properties instanceof PropertyList ? (properties.toObject() as EventProperties) : properties,
});
