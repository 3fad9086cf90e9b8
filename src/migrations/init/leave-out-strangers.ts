/** A file that was looked at. */
export interface LookedAt {
  readonly name: string;
  /** Whether the manifest makes an event, or something about a person, of any of its records. */
  readonly fits: boolean;
}

export interface Narrowed {
  /** For `source.from`. */
  readonly from: readonly string[];
  /** Names of the files that are no part of the export. */
  readonly leftOut: readonly string[];
}

/** `.csv`, `.json.gz`; empty where a name has none. */
export const readExtension = (name: string): string =>
  /\.[a-z0-9]{1,7}(?:\.(?:gz|zip))?$/i.exec(name)?.[0] ?? '';

/**
 * A folder that also holds files of other kinds, such as a README: the export is the files with the extensions of
 * those that fit. Undefined where all fit, or where their names do not tell them apart.
 */
export function leaveOutStrangers(
  folder: string,
  looked: readonly LookedAt[],
  files: readonly string[],
): Narrowed | undefined {
  const fitting = new Set(looked.filter(({ fits }) => fits).map(({ name }) => readExtension(name)));
  const isStranger = (name: string) => !fitting.has(readExtension(name));
  if (fitting.has('') || !looked.some(({ name }) => isStranger(name))) return undefined;
  const path = folder.replace(/\/+$/, '');
  // A name with characters of a glob would mean other files there.
  if (/[*?{}[\]()!\\]/.test(path)) return undefined;
  return {
    from: [...fitting].toSorted().map((extension) => `${path}/**/*${extension}`),
    leftOut: files.filter(isStranger),
  };
}
