import { JSON_END, toOrdinal } from './ordinal.ts';

/** What runs migrations again and again, by the name of the migration. */
export const SCHEDULES = '_schedules/';

export const scheduleLayout = (name: string) => {
  const prefix = `${SCHEDULES}${name}/`;
  return {
    /** The schedule as it was set, paused and so on; each is created once, and the newest counts. */
    versions: `${prefix}versions/`,
    version: (number: number) => `${prefix}versions/${toOrdinal(number)}${JSON_END}`,
    /** What each of its runs came to. */
    runs: `${prefix}runs/`,
    run: (number: number) => `${prefix}runs/${toOrdinal(number)}${JSON_END}`,
    /** Attempts to tell the webhook of a run. */
    notices: `${prefix}notices/`,
  };
};

/** `shop` of `_schedules/shop/versions/00000001.json`; undefined for any other name. */
export const parseScheduleKey = (key: string): string | undefined =>
  /^_schedules\/([a-z0-9][a-z0-9_.-]*)\/versions\/\d{8,}\.json$/.exec(key)?.[1];
