/**
 * The storage of all durable state: a folder or a bucket. Keys are relative, `/`-separated, without `.` or
 * `..` segments. Bodies fit in memory (parts are cut to 8 MiB). Every method throws UnavailableError when
 * the storage is down and ConfigError when it refuses (credentials, permission, no such bucket, disk full).
 */
export interface Staging {
  /** For messages: `folder /data/staging` or `s3://bucket/prefix`. */
  readonly location: string;
  /** Creates or replaces, atomically: a reader sees the old or the new body, never a mix. */
  put(key: string, body: Uint8Array): Promise<{ etag: string }>;
  /** Whether `put` returned this etag for this very body; absent where an etag does not tell. */
  isOfEtag?(etag: string, body: Uint8Array): boolean;
  /** Creates, atomically; false when the key exists already (its body is not changed). */
  create(key: string, body: Uint8Array): Promise<boolean>;
  /**
   * The whole body, or undefined when there is no such key. `take` may be asked for memory of at least so many bytes,
   * of which the body then is the beginning. Throws the reason of the signal once it is aborted, where the body comes
   * over a network: it may trickle in for hours.
   */
  get(key: string, take?: (bytes: number) => Buffer, signal?: AbortSignal): Promise<Buffer | undefined>;
  /** Exactly `length` bytes from `offset`; SourceError when the object is gone or too short. */
  getRange(key: string, offset: number, length: number): Promise<Buffer>;
  /** Every key that starts with `prefix`, in key order. */
  list(prefix: string): AsyncIterable<{ key: string; bytes: number }>;
  /** What is free where the bodies are kept; absent where space is not limited. */
  freeBytes?(): Promise<number>;
  /** Throws ConfigError where this user may write nothing; absent where rights belong to a key, not to a user. */
  assertWritable?(): Promise<void>;
  /** Does nothing when there is no such key. */
  remove(key: string): Promise<void>;
}
