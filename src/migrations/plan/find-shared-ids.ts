import type { TargetEvent } from '../../contract/event.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { counted, printable } from './format-text.ts';

const IDS_NAMED = 3;

/**
 * Ids that name several different events of a sample, as a sentence; undefined when there are none. One
 * event of each is delivered, the others are rejected as same_id_other_content.
 */
export function findSharedIds(events: readonly TargetEvent[]): string | undefined {
  const byId = new Map<string, TargetEvent[]>();
  for (const event of events) {
    const same = byId.get(event.uuid);
    if (same) same.push(event);
    else byId.set(event.uuid, [event]);
  }
  const shared = [...byId]
    .filter(([, same]) => same.length > 1)
    .map(([uuid, same]) => [uuid, new Map(same.map((event) => [canonicalJson(event), event]))] as const)
    .filter(([, contents]) => contents.size > 1);
  if (shared.length === 0) return undefined;
  const examples = shared.slice(0, IDS_NAMED).map(([uuid, contents]) => {
    const names = new Set([...contents.values()].map(({ event }) => printable(event)));
    return `${uuid} (${contents.size} contents: ${[...names].slice(0, IDS_NAMED).join(', ')})`;
  });
  return (
    `Different records share an id: ${counted(shared.length, 'id')} of the sample, such as ${examples.join(', ')}. ` +
    'One record of each id is delivered; the others are rejected as same_id_other_content, and `rejects replay` sends them under ids of their own.'
  );
}
