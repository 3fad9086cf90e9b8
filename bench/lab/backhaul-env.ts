/** Settings of a `backhaul` that is measured. */
export const toBackhaulEnv = (dataDir: string, redisUrl: string | undefined) => ({
  BACKHAUL_DATA_DIR: dataDir,
  REDIS_URL: redisUrl,
  BACKHAUL_LOG_LEVEL: 'warn',
  BENCH_KEY: 'bench',
});
