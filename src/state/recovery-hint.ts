import { isLedgerKey } from './keys/ledger.ts';
import { layout, parseMigrationName, parseReceiptKey } from './keys/migration.ts';
import { parsePartOfFindings } from './keys/segments.ts';

/**
 * What to do about an object of a migration that is missing or damaged. What a part left is made again. Folder and record must be removed
 * together: a record alone would be continued without its parts and receipts.
 */
export function recoveryHint(key: string): string {
  if (isLedgerKey(key)) {
    return 'restore it; or remove this one object, and nothing else of the ledger, and resume: what is known of persons at this destination is then made again from the identity facts of all migrations';
  }
  const name = parseMigrationName(key);
  const { prefix, record, receipts, receipt } = layout(name);
  const part =
    parsePartOfFindings(name, key) ?? (key.startsWith(receipts) ? parseReceiptKey(name, key) : undefined);
  if (part !== undefined)
    return `restore it, or remove ${receipt(part)} and resume "${name}": that part is imported again (nothing is delivered twice)`;
  return `restore it, or remove both ${prefix} and ${record} and run the migration again (nothing is delivered twice)`;
}
