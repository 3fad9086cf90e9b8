import { suggest } from '../../lib/suggest.ts';

/**
 * What a personal key may be allowed to do: the one list. Access rows (access.ts) and keys take no others,
 * so that a misspelt scope neither compiles nor is stored. `x:write` includes `x:read`.
 */
export const SCOPES = [
  // The contract's.
  'dashboard:read',
  'dashboard:write',
  'sharing_configuration:read',
  'person:read',
  'person:write',
  'cohort:read',
  'activity_log:read',
  'event_definition:read',
  'event_definition:write',
  // Beyond the contract.
  'sharing_configuration:write',
  'cohort:write',
  'feature_flag:read',
  'feature_flag:write',
  'insight:read',
  'insight:write',
  'query:read',
  // Everything, and the only one that manages keys, users and projects.
  '*',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a key with these scopes may do what asks for `needed`. Scopes of a stored key may be of another version. */
export function grants(scopes: readonly string[], needed: Scope): boolean {
  return (
    scopes.includes('*') || scopes.includes(needed) || scopes.includes(needed.replace(/:read$/, ':write'))
  );
}

export const isScope = (text: unknown): text is Scope => (SCOPES as readonly unknown[]).includes(text);

/** Says that there is no such scope, and what was meant. */
export function unknownScope(written: string): string {
  const shown = written.slice(0, MAX_SHOWN);
  const meant = suggest(shown, NAMED);
  const help = meant === undefined ? `; the scopes are ${SCOPES.join(', ')}` : `; did you mean "${meant}"?`;
  return `There is no scope "${shown}"${help}`;
}

const MAX_SHOWN = 60;
/** `*` is nobody's slip of the finger. */
const NAMED = SCOPES.filter((scope) => scope !== '*');
