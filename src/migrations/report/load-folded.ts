import type { Staging } from '../../contract/staging.ts';
import { type FoldedRange, foldedRange, mergeFolded } from '../../identity/folded-range.ts';
import { emptyPersonsTally, mergePersonsTally } from '../../identity/persons-tally.ts';
import { resolvedRange } from '../../identity/resolve-buckets.ts';
import { parseDocument } from '../../state/document.ts';
import { layout } from '../../state/keys.ts';

/** What stayed unmerged when ids were resolved, and what folding sent. */
export async function loadFolded(staging: Staging, name: string): Promise<FoldedRange> {
  const keys = layout(name);
  let folded: FoldedRange = { people: emptyPersonsTally(), events: { sent: 0, accepted: 0 }, refused: [] };
  for await (const { key } of staging.list(keys.folded)) {
    const body = await staging.get(key);
    if (body) folded = mergeFolded(folded, parseDocument(foldedRange, body, key, staging));
  }
  for await (const { key } of staging.list(keys.resolved)) {
    const body = await staging.get(key);
    if (!body) continue;
    const { people } = parseDocument(resolvedRange, body, key, staging);
    folded = { ...folded, people: mergePersonsTally(folded.people, people) };
  }
  return folded;
}
