import type { Staging } from '../../src/contract/staging.ts';

/** Staging that costs no write to a disk, for tests of many short histories. */
export function createMemoryStaging(): Staging {
  const objects = new Map<string, Buffer>();
  return {
    location: 'memory',
    async put(key, body) {
      objects.set(key, Buffer.from(body));
      return { etag: '' };
    },
    async create(key, body) {
      if (objects.has(key)) return false;
      objects.set(key, Buffer.from(body));
      return true;
    },
    get: async (key) => objects.get(key),
    async getRange(key, offset, length) {
      const body = objects.get(key)?.subarray(offset, offset + length);
      if (body?.length !== length) throw new Error(`${key} is gone or too short`);
      return body;
    },
    async *list(prefix) {
      for (const key of [...objects.keys()].filter((each) => each.startsWith(prefix)).sort())
        yield { key, bytes: objects.get(key)?.length ?? 0 };
    },
    async remove(key) {
      objects.delete(key);
    },
  };
}
