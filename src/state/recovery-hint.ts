import { isLedgerKey, layout, parseLedgerPrefix, parseMigrationName } from './keys.ts';

/**
 * What to do about an object of a migration that is missing or damaged. Folder and record must be removed
 * together: a record alone would be continued without its parts and receipts.
 */
export function recoveryHint(key: string): string {
  if (isLedgerKey(key)) {
    return `restore it, or remove the folder ${parseLedgerPrefix(key)}: the next migration makes it again from the identity facts that staging holds`;
  }
  const { prefix, record } = layout(parseMigrationName(key));
  return `restore it, or remove both ${prefix} and ${record} and run the migration again (nothing is delivered twice)`;
}
