import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { type Entry, open } from 'yauzl';
import { centralHeader, createZipWriter, endRecords } from '../../src/sample/zip-writer.ts';

const folder = await mkdtemp(join(tmpdir(), 'zip-writer-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Names and bodies as another zip reader finds them; it checks every CRC. */
async function readZip(path: string): Promise<[string, string][]> {
  const zip = await promisify<string, { lazyEntries: boolean }, Awaited<ReturnType<typeof openZip>>>(open as never)(
    path,
    { lazyEntries: true },
  );
  return zip as never;
}
