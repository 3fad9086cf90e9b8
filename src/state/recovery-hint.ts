import { layout, parseMigrationName } from './keys.ts';

/**
 * What to do about an object of a migration that is missing or damaged. Folder and record must be removed
 * together: a record alone would be continued without its parts and receipts.
 */
export function recoveryHint(key: string): string {
  const { prefix, record } = layout(parseMigrationName(key));
  return `restore it, or remove both ${prefix} and ${record} and run the migration again (nothing is delivered twice)`;
}
