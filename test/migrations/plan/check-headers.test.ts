import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { checkHeaders } from '../../../src/migrations/plan/check-headers.ts';
import { createCheckColumns } from '../../../src/sources/csv/check-columns.ts';
import { csvOptions } from '../../../src/sources/csv/index.ts';
import { memoryFile } from '../../sources/formats/memory-file.ts';

const { mapping } = csvOptions.parse({
  mapping: { event: { constant: 'Paid' }, distinctId: { column: 'who' }, timestamp: { column: 'at' } },
});
const read = { format: 'csv', delimiter: ',', checkColumns: createCheckColumns(mapping, ',') } as const;
const file = (name: string, body: string) => memoryFile(body, 1_000, name);

describe('checking headers before anything is begun', () => {
  it('names the files that lack a declared column, and no other', async () => {
    const files = [file('good.csv', 'who,at\n'), file('odd.csv', 'user,at\n1,2\n'), file('bad.csv', 'x\n')];
    const failure = await checkHeaders(files, read).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigError);
    expect(String(failure)).toContain('odd.csv: the header row has no column "who"');
    expect(String(failure)).toContain('bad.csv: the header row has no column "who"');
    expect(String(failure)).not.toContain('good.csv');
  });

  it('names five of many, and how many more there are', async () => {
    const files = Array.from({ length: 7 }, (_, index) => file(`odd-${index}.csv`, 'user,at\n'));
    await expect(checkHeaders(files, read)).rejects.toThrow(/odd-4\.csv.*\nand 2 files more$/s);
  });

  it('leaves files that are broken otherwise to the plan, and JSON to its map', async () => {
    const files = [file('quote.csv', 'who,"at\n'), file('lines.json', '{"a":1}\n')];
    await expect(checkHeaders(files, read)).resolves.toBeUndefined();
  });
});
