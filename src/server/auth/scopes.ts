import { suggest } from '../../lib/suggest.ts';

/**
 * The only list of scopes. Routes and keys accept no others, so that a misspelt scope neither compiles nor
 * is stored. `x:write` includes `x:read`. Keys, users and projects are managed with `*` only, so that a key
 * never hands out more than it has.
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
  'action:read',
  'action:write',
  'feature_flag:read',
  'feature_flag:write',
  'insight:read',
  'insight:write',
  'query:read',
  // Everything, and the only one that manages keys, users and projects.
  '*',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether these scopes include `needed`. A stored key may have scopes of another version. */
export function grants(scopes: readonly string[], needed: Scope): boolean {
  return (
    scopes.includes('*') || scopes.includes(needed) || scopes.includes(needed.replace(/:read$/, ':write'))
  );
}

export const isScope = (text: unknown): text is Scope => (SCOPES as readonly unknown[]).includes(text);

/** The message for a scope that does not exist, with the likely one. */
export function unknownScope(written: string): string {
  const shown = written.slice(0, MAX_SHOWN);
  const meant = suggest(shown, NAMED);
  const help = meant === undefined ? `; the scopes are ${SCOPES.join(', ')}` : `; did you mean "${meant}"?`;
  return `There is no scope "${shown}"${help}`;
}

const MAX_SHOWN = 60;
/** `*` is not suggested. */
const NAMED = SCOPES.filter((scope) => scope !== '*');
