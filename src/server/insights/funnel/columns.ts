import { type Sql, sql } from '../../database/sql.ts';

/** Columns of goes: the time of each step, from 0. */
export const TIMES: readonly Sql[] = [
  sql`time_0`,
  sql`time_1`,
  sql`time_2`,
  sql`time_3`,
  sql`time_4`,
  sql`time_5`,
  sql`time_6`,
  sql`time_7`,
  sql`time_8`,
  sql`time_9`,
  sql`time_10`,
  sql`time_11`,
  sql`time_12`,
  sql`time_13`,
  sql`time_14`,
  sql`time_15`,
  sql`time_16`,
  sql`time_17`,
  sql`time_18`,
  sql`time_19`,
];

/** The same of each exclusion: when its event follows the step that it begins at. */
export const BARS: readonly Sql[] = [
  sql`bar_0`,
  sql`bar_1`,
  sql`bar_2`,
  sql`bar_3`,
  sql`bar_4`,
  sql`bar_5`,
  sql`bar_6`,
  sql`bar_7`,
  sql`bar_8`,
  sql`bar_9`,
  sql`bar_10`,
  sql`bar_11`,
  sql`bar_12`,
  sql`bar_13`,
  sql`bar_14`,
  sql`bar_15`,
  sql`bar_16`,
  sql`bar_17`,
  sql`bar_18`,
  sql`bar_19`,
];

/** Funnels have fewer steps and exclusions than there are names. */
export function nameOf(names: readonly Sql[], index: number): Sql {
  const name = names[index];
  if (name === undefined) throw new Error(`no column has the number ${index}`);
  return name;
}
