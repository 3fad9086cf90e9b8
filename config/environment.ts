import { readFileSync } from 'node:fs';
import { getMessage } from '../src/lib/errors.ts';

/** The variables of a process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Of this process, for those that are not the command line: the API has that of the process that started it. */
export const readEnvironment = (): Environment => process.env;

export type Variable =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly problem: string };

/**
 * The variable itself, else the contents of the file that `<name>_FILE` names (how Docker and
 * Kubernetes provide secrets). An empty variable counts as absent: compose files set them.
 */
export function readVariable(env: Environment, name: string): Variable {
  const value = env[name];
  if (value !== undefined && value !== '') return { kind: 'value', value };
  const path = env[`${name}_FILE`];
  if (path === undefined || path === '') return { kind: 'absent' };
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (text !== '') return { kind: 'value', value: text };
    return { kind: 'unreadable', problem: `${name}_FILE names ${path}, which is empty` };
  } catch (error) {
    return {
      kind: 'unreadable',
      problem: `${name}_FILE names a file that cannot be read: ${getMessage(error)}`,
    };
  }
}
