import { resolve } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { Staging } from '../contract/staging.ts';
import { ConfigError } from '../lib/errors.ts';
import type { SourceBucket } from '../sources/files/s3-file.ts';
import { createFolderStaging } from '../state/staging/folder.ts';

/**
 * The folder or bucket that the settings name. The S3 SDK is loaded only where it is used: that takes longer
 * than most commands. `onTrouble`: see S3Options.
 */
export async function openStaging(
  settings: Pick<Settings, 'dataDir' | 'staging' | 's3'>,
  onTrouble?: (trouble: string | undefined) => void,
): Promise<Staging> {
  const where = settings.staging;
  if (!where) return createFolderStaging(resolve(settings.dataDir, 'staging'));
  const match = /^s3:\/\/([^/]+)\/?(.*)$/.exec(where);
  if (!match?.[1]) {
    throw new ConfigError(
      `BACKHAUL_STAGING is "${where}"; set it to s3://bucket/prefix, or leave it unset for a folder in the data folder`,
    );
  }
  const { createS3Staging } = await import('../state/staging/s3.ts');
  return createS3Staging({ ...settings.s3, onTrouble, bucket: match[1], prefix: match[2] ?? '' });
}

/** Opens the buckets that manifests name as their source, each of them once. */
export function createBucketOpener(
  settings: Settings,
  watch?: (what: string) => (trouble: string | undefined) => void,
): (bucket: string) => Promise<SourceBucket> {
  const buckets = new Map<string, Promise<SourceBucket>>();
  const open = async (bucket: string): Promise<SourceBucket> => {
    const { createS3Bucket } = await import('../state/staging/s3-bucket.ts');
    return createS3Bucket({ ...settings.s3, bucket, onTrouble: watch?.(`source ${bucket}`) });
  };
  return (bucket) => {
    const opened = buckets.get(bucket) ?? open(bucket);
    buckets.set(bucket, opened);
    return opened;
  };
}
