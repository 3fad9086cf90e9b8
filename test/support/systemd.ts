import { readText } from './compose.ts';

export const UNITS = ['backhaul-serve.service', 'backhaul-worker@.service'] as const;

/** What a unit says: each key of `[Section]`, with all of its values. */
export type Unit = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** https://www.freedesktop.org/software/systemd/man/latest/systemd.syntax.html, as far as the files use it. */
export function readUnit(name: string): Unit {
  const sections: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> = {};
  for (const line of readText(`deploy/systemd/${name}`).split('\n')) {
    const header = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (header !== undefined) {
      section = {};
      sections[header] = section;
    } else if (key !== undefined) section[key] = [...(section[key] ?? []), value];
    else if (line !== '' && !line.startsWith('#')) throw new Error(`${name}: ${line}`);
  }
  return sections;
}

/** The words behind the program that a unit starts. */
export const getArguments = (unit: Unit): string[] =>
  (unit['Service']?.['ExecStart']?.[0] ?? '').split(' ').slice(1);

/** An `EnvironmentFile`; a value in single quotes stands as it is. */
export const parseEnvironmentFile = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^([A-Z]\w*)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value.replace(/^'(.*)'$/, '$1'),
    ]),
  );
