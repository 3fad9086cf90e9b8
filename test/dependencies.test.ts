import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const page = read('ARCHITECTURE.md');
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>;

/** First cells of the rows below a table's heading cell. */
function listRows(heading: string): string[] {
  const [, body = ''] = page.split(`| ${heading} |`);
  return body
    .split('\n')
    .slice(2)
    .slice(
      0,
      body
        .split('\n')
        .slice(2)
        .findIndex((line) => !line.startsWith('|')),
    )
    .map((line) => line.split('|')[1]?.trim() ?? '');
}

describe('the dependencies', () => {
  it('are in the table of ARCHITECTURE.md, each with its reason, and no others', () => {
    expect(listRows('Package').sort()).toEqual(Object.keys(dependencies).sort());
    expect(listRows('Development package').sort()).toEqual(Object.keys(devDependencies).sort());
  });

  it('are pinned to one exact version', () => {
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+$/.test(version),
    );
    expect(loose).toEqual([]);
  });
});
