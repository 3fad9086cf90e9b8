/** What a destination accepts and then does not store as it was sent, so that it must not be sent. */

/**
 * Names whose events are answered with success and are not stored: performance traces, warnings of clients, and heat maps,
 * which are kept elsewhere.
 * https://github.com/PostHog/posthog (rust/capture, process_single_event; plugin-server, runEventPipelineSteps)
 */
const DROPPED = new Set(['$performance_event', '$$client_ingestion_warning', '$$heatmap']);
const DOLLAR = 36;

/** Whether the destination drops every event of this name. Names of its own begin with a dollar sign. */
export const isDropped = (event: string): boolean => event.charCodeAt(0) === DOLLAR && DROPPED.has(event);

/**
 * Marks an event whose person the destination names by a hash with a secret of its day, which it deletes a few days later:
 * one of an earlier day is answered with success and dropped, whatever its distinct_id says.
 * https://github.com/PostHog/posthog (plugin-server, cookieless-manager: cookieless_timestamp_out_of_range)
 */
export const COOKIELESS_MARK = '$cookieless_mode';

/**
 * The destination stores an event that is more than 23 hours ahead of its clock as if it happened when it arrives,
 * so that each sending is another event. One hour is left for clocks that differ.
 */
export const HOURS_AHEAD = 22;

/** The last time that an event may have which was taken in at a moment; ISO 8601 in UTC with milliseconds. */
export const toLatest = (takenIn: Date): string =>
  new Date(takenIn.getTime() + HOURS_AHEAD * 3_600_000).toISOString();
