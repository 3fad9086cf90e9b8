import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FactsSection } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { recoveryHint } from '../state/recovery-hint.ts';
import { bucketOf } from './bucket.ts';
import { pickHomeBucket, type StoredFact, storedFact } from './stored-fact.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/**
 * A findings object: for each bucket that has any findings, in ascending order, one gzip member of
 * sorted JSON lines. Neighbouring buckets can be read in one go, as members follow one another.
 */
export async function encodeFacts(
  findings: Iterable<StoredFact>,
): Promise<{ body: Buffer; sections: FactsSection[] }> {
  const byBucket = new Map<number, string[]>();
  for (const finding of findings) {
    const bucket = bucketOf(pickHomeBucket(finding));
    const lines = byBucket.get(bucket);
    if (lines) lines.push(JSON.stringify(finding));
    else byBucket.set(bucket, [JSON.stringify(finding)]);
  }

  const members: Buffer[] = [];
  const sections: FactsSection[] = [];
  let offset = 0;
  for (const [bucket, lines] of [...byBucket].sort(([a], [b]) => a - b)) {
    const member = await zip(Buffer.from(`${lines.sort().join('\n')}\n`), { level: 4 });
    sections.push({ bucket, offset, length: member.length });
    members.push(member);
    offset += member.length;
  }
  return { body: Buffer.concat(members), sections };
}

/** A stretch of a findings object: the members of one bucket or of several neighbouring ones. */
export interface FactsRange {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
}

export async function readFacts(staging: Staging, range: FactsRange): Promise<StoredFact[]> {
  const { key, offset, length } = range;
  const body = await staging.getRange(key, offset, length);
  try {
    const lines = (await unzip(body)).toString('utf8').split('\n');
    return lines.filter(Boolean).map((line) => storedFact.parse(JSON.parse(line)));
  } catch (error) {
    throw new SourceError(
      `${staging.location}: ${key} (bytes ${offset} to ${offset + length}) is not what Backhaul wrote there; ${recoveryHint(key)}`,
      error,
    );
  }
}
