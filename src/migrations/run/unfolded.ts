import type { Staging } from '../../contract/staging.ts';
import {
  FINGERPRINT_WORDS,
  getKind,
  getRecord,
  OF_WHOLE,
  readFingerprints,
  toContent,
  toEventKey,
} from '../../state/fingerprints.ts';
import { layout } from '../../state/keys/migration.ts';
import { listReceipts } from '../../state/receipts.ts';
import { createGeneration, loadRepeatsIfWhole } from '../../state/repeats.ts';
import type { SentPart } from './other-senders.ts';
import { findTaken } from './taken-events.ts';

/** Events of a part that may be at the destination and that were compared with nothing. */
export interface Uncompared {
  readonly part: string;
  /** Contents by key. */
  readonly events: ReadonlyMap<string, ReadonlySet<string>>;
  readonly days: ReadonlySet<string>;
}

const ALL_DAYS = { fromDay: '', toDay: '\uffff' };

/** What the parts of a migration that are in have sent, where it ended before they were folded. */
export async function* listUnfolded(staging: Staging, name: string): AsyncGenerator<Uncompared> {
  const indexes = [];
  const generations = createGeneration();
  for await (const receipt of listReceipts(staging, name)) {
    generations.add(receipt);
    if (receipt.fingerprints) indexes.push({ part: receipt.part, index: receipt.fingerprints });
  }
  const generation = generations.end();
  const key = layout(name).repeatsResult(generation.name);
  if (await loadRepeatsIfWhole(staging, key, generation.rows)) return;
  for (const { part, index } of indexes) {
    const found = await readFingerprints(staging, index, ALL_DAYS);
    if (found) yield toUncompared(part, found.words, found.runs);
  }
}

/** `isLeft`: whether what a record has sent counts. */
export function toUncompared(
  part: string,
  words: Int32Array,
  days: readonly { readonly day: string }[],
  isLeft: (record: number) => boolean = () => true,
): Uncompared {
  const events = new Map<string, Set<string>>();
  for (let at = 0; at < words.length; at += FINGERPRINT_WORDS) {
    const word = words[at + FINGERPRINT_WORDS - 1] as number;
    if (getKind(word) === OF_WHOLE || !isLeft(getRecord(word))) continue;
    const key = toEventKey(words, at);
    events.set(key, (events.get(key) ?? new Set()).add(toContent(words, at)));
  }
  return { part, events, days: new Set(days.map(({ day }) => day)) };
}

/** How many of the events have the key of one that was delivered, and another content. */
export async function countApart(
  staging: Staging,
  { events, days }: Uncompared,
  delivered: readonly SentPart[],
): Promise<number> {
  const taken = await findTaken(staging, delivered, { keys: new Set(events.keys()), days });
  let count = 0;
  for (const [key, contents] of taken)
    if ([...(events.get(key) ?? [])].some((content) => !contents.has(content))) count += 1;
  return count;
}
