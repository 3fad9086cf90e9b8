import type { Staging } from '../../contract/staging.ts';
import { unbrotli } from '../../lib/gzip.ts';
import { hashBytes } from '../../state/hash-bytes.ts';
import { parseBodyKey, partKeys } from '../../state/keys/parts.ts';
import { decodeFrames } from '../../state/part-records.ts';

/** What is left of a part without its description. */
export interface LostBody {
  readonly records: number;
  /** Of its frames before compression, in hex. */
  readonly sha256: string;
}

/** The bodies of parts of a file that have no description, by number; those that are damaged are left out. */
export async function listLostBodies(
  staging: Staging,
  prefix: string,
  fileId: string,
  described: ReadonlyMap<number, unknown>,
): Promise<Map<number, LostBody[]>> {
  const found = new Map<number, LostBody[]>();
  for await (const { key } of staging.list(partKeys(prefix).fileParts(fileId))) {
    const parsed = parseBodyKey(key);
    if (!parsed || described.has(parsed.number)) continue;
    const body = await staging.get(key);
    if (!body || !hashBytes(body).startsWith(parsed.sha256Start)) continue;
    const frames = parsed.packing === 'none' ? body : await unbrotli(body);
    const { count: records } = decodeFrames(frames);
    found.set(parsed.number, [...(found.get(parsed.number) ?? []), { records, sha256: hashBytes(frames) }]);
  }
  return found;
}
