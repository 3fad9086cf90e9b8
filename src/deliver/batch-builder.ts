import type { Batch } from '../contract/delivery.ts';
import { ENVELOPE_BYTES } from './envelope.ts';

export interface BatchLimits {
  /** Events of one request. */
  readonly events: number;
  /** Bytes of one request before compression, including the envelope. */
  readonly bytes: number;
  /** Bytes of one event's JSON text. */
  readonly eventBytes: number;
}

/** Well below what PostHog-compatible services are known to accept (10 to 20 MB a request, 1 MB an event). */
export const DEFAULT_BATCH_LIMITS: BatchLimits = {
  events: 1000,
  bytes: 5 * 1024 * 1024,
  eventBytes: 900 * 1024,
};

const FIRST_BYTES = 64 * 1024;
const COMMA = 0x2c;
/** A UTF-16 code unit never takes more than three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Packs events into batches. Each text is encoded once, directly into the body; writing it yields its size,
 * so nothing is measured first.
 */
export class BatchBuilder {
  private readonly limits: BatchLimits;
  private readonly bodyBytes: number;
  private buffer: Buffer;
  private length = 0;
  private offsets: number[] = [];

  constructor(limits: BatchLimits = DEFAULT_BATCH_LIMITS) {
    this.limits = limits;
    this.bodyBytes = limits.bytes - ENVELOPE_BYTES;
    this.buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  get events(): number {
    return this.offsets.length;
  }

  /**
   * `full`: not added; take the batch and add it again. `too_large`: not added; it fits into no batch.
   */
  add(eventJson: string): 'added' | 'full' | 'too_large' {
    const largest = Math.min(this.limits.eventBytes, this.bodyBytes);
    if (eventJson.length > largest) return 'too_large';

    const start = this.length === 0 ? 0 : this.length + 1;
    this.reserve(start + eventJson.length * MAX_BYTES_PER_UNIT);
    const written = this.buffer.write(eventJson, start, 'utf8');
    if (written > largest) return 'too_large';
    if (this.offsets.length >= this.limits.events || start + written > this.bodyBytes) return 'full';

    if (start > 0) this.buffer[start - 1] = COMMA;
    this.offsets.push(start);
    this.length = start + written;
    return 'added';
  }

  /** All of a record's events or none: a record must not be split over two batches. */
  addAll(eventJsons: readonly string[]): 'added' | 'full' | 'too_large' {
    const { length } = this;
    const events = this.offsets.length;
    for (const eventJson of eventJsons) {
      const added = this.add(eventJson);
      if (added === 'added') continue;
      this.length = length;
      this.offsets.length = events;
      return added === 'full' && events === 0 ? 'too_large' : added;
    }
    return 'added';
  }

  /** Returns the batch with its memory and starts the next one. */
  take(): Batch {
    const batch: Batch = {
      body: this.buffer.subarray(0, this.length),
      offsets: [...this.offsets, this.length + 1],
    };
    // The next batch is likely to be as large as this one.
    this.buffer = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, Math.ceil(this.length * 1.1)));
    this.length = 0;
    this.offsets = [];
    return batch;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}
