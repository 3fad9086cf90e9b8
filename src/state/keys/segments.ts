import { layout, toOwn } from './migration.ts';
import type { PartsOwner, Writer } from './parts.ts';

/** Rejects and identity facts carry the fence of their writer, so that no two writers share an object (I5). */
export const toSegmentName = ({ part, epoch, counter }: Writer, position: number): string =>
  `${part}/${epoch}-${counter}-${position}`;

/**
 * The same below the name of a migration that may be given again: a worker of one that was removed has the same fences, and
 * would replace what another one left.
 */
export const toOwnSegment = (
  segment: string,
  { id, partsById = false }: Pick<PartsOwner, 'id' | 'partsById'>,
) => (partsById ? `${segment}${toOwn(id)}` : segment);

/** Epoch 2 and counter 1 of `shop/checkpoints/<file>/00000/2-1.json`; undefined for any other name. */
export function parseCheckpointKey(key: string): Pick<Writer, 'epoch' | 'counter'> | undefined {
  const [, epoch, counter] = /\/(\d+)-(\d+)\.json$/.exec(key) ?? [];
  return epoch && counter ? { epoch: Number(epoch), counter: Number(counter) } : undefined;
}

/** The part's id of `shop/findings/<file>/00000/2-1-60-<id>.gz`, of its rejects and of its fingerprints. */
export function parsePartOfFindings(name: string, key: string): string | undefined {
  const { allFindings, rejects, allFingerprints } = layout(name);
  const folder = [allFindings, rejects, allFingerprints].find((each) => key.startsWith(each));
  return folder && /^([^/]+\/\d{5,})\/\d+-\d+-\d+(?:-[0-9a-f]{8})?\./.exec(key.slice(folder.length))?.[1];
}
