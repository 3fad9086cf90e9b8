import type { Staging } from '../contract/staging.ts';
import { loadMigration } from '../state/migrations.ts';

/** Of a manifest: see its schema. */
const NAME_MAX = 63;

/** `shop` → `shop.replay-1`; a long name loses its end, so that the whole is still a name. */
export function createDerivedName(name: string, kind: 'replay' | 'persons', number: number): string {
  const suffix = `.${kind}-${number}`;
  return name.slice(0, NAME_MAX - suffix.length) + suffix;
}

/** The migration that a replay of an earlier version is of, whose record does not name it; its name may be cut. */
export const parseReplayName = (name: string): string | undefined => /^(.+)\.replay-\d+$/.exec(name)?.[1];

/** Whether it may be the name of a replay of `of`; one of two long names may be cut to the same. */
export function isReplayNameOf(name: string, of: string): boolean {
  const number = /\.replay-(\d+)$/.exec(name)?.[1];
  return number !== undefined && createDerivedName(of, 'replay', Number(number)) === name;
}

/** The first of these names that no migration has. */
export async function findFreeName(
  staging: Staging,
  name: string,
  kind: 'replay' | 'persons',
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = createDerivedName(name, kind, number);
    if (!(await loadMigration(staging, candidate))) return candidate;
  }
}
