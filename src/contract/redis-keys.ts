/**
 * Run ids of the Redis servers that this one continues, each with the time it was noted (sorted set): one
 * after the other they were stopped in order and had everything on disk. Whoever starts the next one on the
 * same files adds the last; counts that an earlier one kept are then not lost but continued.
 */
export const CLEAN_STOPS_KEY = '{bh}:clean-stops';
