import { layout, parseMigrationName } from './keys.ts';

/**
 * What to do about an object of a migration that is gone or damaged. Folder and record go together: a
 * record alone would be continued as it was, without the parts and receipts it stands for.
 */
export function recoveryHint(key: string): string {
  const { prefix, record } = layout(parseMigrationName(key));
  return `restore it, or remove both ${prefix} and ${record} and run the migration anew (nothing is delivered twice)`;
}
