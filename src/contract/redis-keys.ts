/**
 * Run ids of the Redis servers that this one continues, each with the time it was added (sorted set). Each
 * was shut down in order with everything on disk, and its id was added when the next one started on the same
 * files. Counts kept by one of them are therefore complete.
 */
export const CLEAN_STOPS_KEY = '{bh}:clean-stops';
