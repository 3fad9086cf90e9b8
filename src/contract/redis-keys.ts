/**
 * Run ids of the Redis servers whose files this one took over, oldest first (sorted sets; one scale of scores).
 * Each was added when the next one started on the same files.
 */
/** Those that were shut down in order, with everything on disk: counts kept by them are complete. */
export const CLEAN_STOPS_KEY = '{bh}:clean-stops';
/**
 * Those that were killed while the machine ran on: their last writes may be missing. Redis answers before it has
 * written only while the disk is slow, and for 2 seconds at most (flushAppendOnlyFile in
 * https://github.com/redis/redis/blob/7.2/src/aof.c).
 */
export const CRASHES_KEY = '{bh}:crashes';
/** Longest stretch of writes that one of these crashes loses: the 2 seconds by a clock of whole seconds, and more. */
export const CRASH_LOSES_MS = 5_000;
