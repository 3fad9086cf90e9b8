import { ConfigError } from '../../lib/errors.ts';

/** A key names an object inside its staging folder or bucket, never one outside. */
export function assertKey(key: string): string {
  const bad = key === '' || key.includes('\\') || key.includes('\0') || key.split('/').some(isBadSegment);
  if (bad) {
    throw new ConfigError(
      `${JSON.stringify(key)} is not a valid staging key: keys are /-separated names without ".", ".." or empty segments; give the migration a plainer name`,
    );
  }
  return key;
}

/** The same for the start of a key, where the last segment may be incomplete or empty. */
export function assertPrefix(prefix: string): string {
  if (prefix !== '') assertKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
  return prefix;
}

const isBadSegment = (segment: string) => segment === '' || segment === '.' || segment === '..';
