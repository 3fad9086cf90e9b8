import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { checkHeaders } from '../../../src/migrations/plan/check-headers.ts';
import { csv } from '../../../src/sources/csv/index.ts';
import { bindSource } from '../../../src/sources/registry.ts';
import { type SourceSlice, toSourceSlice } from '../../../src/sources/source.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';

const block = csv.block.parse({
  type: 'csv',
  from: 'x',
  mapping: { event: { constant: 'Paid' }, distinctId: { column: 'who' }, timestamp: { column: 'at' } },
});
const folder = mkdtempSync(join(tmpdir(), 'backhaul-headers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A real file, opened as the source of the manifest opens it. */
function file(name: string, body: string): SourceSlice {
  writeFileSync(join(folder, name), body);
  const { mtime } = statSync(join(folder, name));
  const slice = { ...memorySlice(body, { name }), modified: mtime.toISOString() };
  return toSourceSlice(slice, bindSource(block), { baseDir: folder });
}

describe('checking headers before anything is begun', () => {
  it('names the files that lack a declared column, and no other', async () => {
    const files = [file('good.csv', 'who,at\n'), file('odd.csv', 'user,at\n1,2\n'), file('bad.csv', 'x\n')];
    const failure = await checkHeaders(files, block).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigError);
    expect(String(failure)).toContain('odd.csv: the header row has no column "who"');
    expect(String(failure)).toContain('bad.csv: the header row has no column "who"');
    expect(String(failure)).not.toContain('good.csv');
  });

  it('names five of many, and how many more there are', async () => {
    const files = Array.from({ length: 7 }, (_, index) => file(`odd-${index}.csv`, 'user,at\n'));
    await expect(checkHeaders(files, block)).rejects.toThrow(/odd-4\.csv.*\nand 2 files more$/s);
  });

  it('leaves files that are broken otherwise to the plan, and JSON to its map', async () => {
    const files = [file('quote.csv', 'who,"at\n'), file('lines.json', '{"a":1}\n')];
    await expect(checkHeaders(files, block)).resolves.toBeUndefined();
  });
});
