import type { Staging } from '../../contract/staging.ts';

/** Objects that are removed at once; on S3 each is a round trip. */
const AT_ONCE = 16;

export async function removeAll(
  staging: Staging,
  prefix: string,
  isKept: (key: string) => boolean,
): Promise<void> {
  let keys: string[] = [];
  const remove = async () => {
    await Promise.all(keys.map((key) => staging.remove(key)));
    keys = [];
  };
  for await (const { key } of staging.list(prefix)) {
    if (!isKept(key)) keys.push(key);
    if (keys.length === AT_ONCE) await remove();
  }
  await remove();
}
