/** What a destination accepts and then does not store as it was sent, so that it must not be sent. */

/** Names whose events are answered with success and dropped: performance traces, which never were analytics events. */
const DROPPED = new Set(['$performance_event']);
const DOLLAR = 36;

/** Whether the destination drops every event of this name. Names of its own begin with a dollar sign. */
export const isDropped = (event: string): boolean => event.charCodeAt(0) === DOLLAR && DROPPED.has(event);

/**
 * The destination stores an event that is more than 23 hours ahead of its clock as if it happened when it arrives,
 * so that each sending is another event. One hour is left for clocks that differ.
 */
export const HOURS_AHEAD = 22;

/** The last time that an event may have which was taken in at a moment; ISO 8601 in UTC with milliseconds. */
export const toLatest = (takenIn: Date): string =>
  new Date(takenIn.getTime() + HOURS_AHEAD * 3_600_000).toISOString();
