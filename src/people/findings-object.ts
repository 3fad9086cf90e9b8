import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { restoreOrBeginAnew } from '../contract/begin-anew.ts';
import type { FindingsSection } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../errors.ts';
import { bucketOf } from './bucket.ts';
import { homeOf, type StoredFinding, storedFinding } from './stored-finding.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/**
 * A findings object: for each bucket that has any findings, in ascending order, one gzip member of
 * sorted JSON lines. Neighbouring buckets can be read in one go, as members follow one another.
 */
export async function encodeFindings(
  findings: Iterable<StoredFinding>,
): Promise<{ body: Buffer; sections: FindingsSection[] }> {
  const byBucket = new Map<number, string[]>();
  for (const finding of findings) {
    const bucket = bucketOf(homeOf(finding));
    const lines = byBucket.get(bucket);
    if (lines) lines.push(JSON.stringify(finding));
    else byBucket.set(bucket, [JSON.stringify(finding)]);
  }

  const members: Buffer[] = [];
  const sections: FindingsSection[] = [];
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
export interface FindingsRange {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
}

export async function readFindings(staging: Staging, range: FindingsRange): Promise<StoredFinding[]> {
  const { key, offset, length } = range;
  const body = await staging.getRange(key, offset, length);
  try {
    const lines = (await unzip(body)).toString('utf8').split('\n');
    return lines.filter(Boolean).map((line) => storedFinding.parse(JSON.parse(line)));
  } catch (error) {
    throw new SourceError(
      `${staging.location}: ${key} (bytes ${offset} to ${offset + length}) is not what Backhaul wrote there; ${restoreOrBeginAnew(key)}`,
      error,
    );
  }
}
