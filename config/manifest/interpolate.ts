import type { Environment } from '../environment.ts';
import { readVariable } from '../environment.ts';

export type Path = readonly (string | number)[];

export interface Interpolated {
  readonly value: unknown;
  readonly problems: readonly { readonly path: Path; readonly message: string }[];
}

const REFERENCE = /\$\$\{|\$\{([^}]*)\}/g;
const NAMED = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * Puts variables in place of `${NAME}` and `${NAME:-default}` in every text of a tree, never in
 * keys; `$${` is a plain `${`. Texts under a path for which `keep` holds stay as they are.
 */
export function interpolate(tree: unknown, env: Environment, keep: (path: Path) => boolean): Interpolated {
  const problems: { path: Path; message: string }[] = [];

  const fill = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return keep(path) ? value : fillText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key])]));
  };

  const fillText = (text: string, path: Path): string =>
    text.replace(REFERENCE, (written: string, inside: string | undefined) => {
      if (inside === undefined) return '${';
      const [, name, fallback] = NAMED.exec(inside) ?? [];
      if (name === undefined) {
        problems.push({
          path,
          message: `${written} names no variable; write \${NAME}, or $\${ for a plain \${`,
        });
        return written;
      }
      const variable = readVariable(env, name);
      if (variable.kind === 'value') return variable.value;
      if (variable.kind === 'absent' && fallback !== undefined) return fallback;
      problems.push({ path, message: missingVariable(name, variable) });
      return written;
    });

  return { value: fill(tree, []), problems };
}

export function missingVariable(name: string, variable: ReturnType<typeof readVariable>): string {
  return variable.kind === 'unreadable'
    ? variable.problem
    : `the variable ${name} is not set; set ${name}, or ${name}_FILE to a file that holds the value`;
}
