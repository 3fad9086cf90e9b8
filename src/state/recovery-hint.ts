/** Where the record of a migration lies, apart from its folder. */
const recordOf = (name: string) => `_migrations/${name}.json`;

/**
 * What to do about an object of a migration that is gone or damaged. Folder and record go together: a
 * record alone would be continued as it was, without the parts and receipts it stands for.
 */
export function recoveryHint(key: string): string {
  const [first = '', second = ''] = key.split('/');
  const name = first === '_migrations' ? second.replace(/\.json$/, '') : first;
  return `restore it, or remove both ${name}/ and ${recordOf(name)} and run the migration anew (nothing is delivered twice)`;
}
