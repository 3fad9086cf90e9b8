import { resolve } from 'node:path';
import type { Slice } from '../../contract/slice.ts';
import { ConfigError, SourceError } from '../../lib/errors.ts';
import type { SourceContext } from '../source.ts';
import { createLocalFile } from './local-file.ts';
import { createS3File } from './s3-file.ts';
import type { SourceFile } from './source-file.ts';

/** Opens a file as it was found: one that has changed since then cannot be read. */
export async function openSourceFile(slice: Slice, { baseDir, openS3 }: SourceContext): Promise<SourceFile> {
  if (slice.location === 'producer') return createLocalFile(resolve(baseDir, slice.name), slice);
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.*)$/s.exec(slice.name) ?? [];
  if (bucket === undefined || key === undefined) throw new SourceError(`${slice.name} names no object on S3`);
  if (!openS3) throw new ConfigError(`${slice.name} is on S3, but no access to S3 is set up`);
  return createS3File(await openS3(bucket), key, slice);
}
