/** Of a manifest: see its schema. */
const NAME_MAX = 63;

/** `shop` → `shop.replay-1`; a long name gives up its end, so that the whole is still a name. */
export function replayName(name: string, number: number): string {
  const suffix = `.replay-${number}`;
  return name.slice(0, NAME_MAX - suffix.length) + suffix;
}
