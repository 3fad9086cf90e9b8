import { z } from 'zod';

/**
 * A piece of a source that is opened by itself: a file, or a window of an API. Plain data, so that another
 * process can open it. One job stages it, or a group of small ones.
 */
export const slice = z.strictObject({
  /** 12 hex digits of the name's sha256; names the slice in staging. */
  fileId: z.string(),
  /** Path relative to the manifest's folder, `s3://bucket/key`, or what names a window. */
  name: z.string(),
  /** Size as stored, packed or not; 0 where the source cannot know it before reading. */
  bytes: z.number(),
  /** Fingerprint: time of the last change (ISO) or etag. The same one means the same content. */
  modified: z.string(),
  /** `shared`: any worker can open it. `producer`: only the machine that found it. */
  location: z.enum(['shared', 'producer']),
});
export type Slice = z.infer<typeof slice>;
