/**
 * `npm test` leaves out what takes minutes and says what that is. `npm run test:all` sets
 * BACKHAUL_TEST_ALL=1 and runs it.
 */
export const ALL = process.env['BACKHAUL_TEST_ALL'] === '1';

/** BACKHAUL_TEST_DATABASES=both runs every suite of the API on the embedded database as well. */
export const BOTH_DATABASES = ALL || process.env['BACKHAUL_TEST_DATABASES'] === 'both';
