import type { Batch } from '../contract/delivery.ts';
import { giveBuffer, takeBuffer } from '../lib/spare-buffers.ts';
import { TextBuffer } from '../lib/text-buffer.ts';
import { ENVELOPE_BYTES } from './envelope.ts';
import { type Stamp, stampLast } from './stamp.ts';

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
const NONE = Buffer.alloc(0);

/**
 * Most bytes of the events of one record, whatever the limits of a request: they are in memory until the last of
 * them has its answer. More than any request may have, so a setting changes no outcome.
 */
export const RECORD_BYTES = 16 * 1024 * 1024;

export type Added = 'added' | 'full' | TooLarge;

/** An event that fits into no request, or more events than one record may become. */
export type TooLarge = 'event_too_large' | 'record_too_large';

/**
 * Packs events into batches. Each event is written once, straight into the body; writing it yields its size, so
 * nothing is measured first. A record's events are written behind those of the batch, and then kept, all of them,
 * or written over.
 */
export class BatchBuilder {
  /** Where the next event is written. */
  readonly text = new TextBuffer(FIRST_BYTES);
  readonly #limits: BatchLimits;
  readonly #bodyBytes: number;
  /** Starts of the events of the batch, and of the record that is not kept yet. */
  #offsets: number[] = [];
  #pending: number[] = [];
  /** Why the record that is not kept yet cannot be sent, as far as its events were looked at. */
  #excess: TooLarge | undefined;
  /** Bytes of the batch, with a comma behind each event. */
  #bytes = 0;

  constructor(limits: BatchLimits = DEFAULT_BATCH_LIMITS) {
    this.#limits = limits;
    this.#bodyBytes = limits.bytes - ENVELOPE_BYTES;
  }

  get events(): number {
    return this.#offsets.length;
  }

  /** Of one event: a request must be able to hold it. */
  get mostEventBytes(): number {
    return Math.min(this.#limits.eventBytes, this.#bodyBytes);
  }

  /** What was written and not kept is written over. */
  startRecord(): void {
    this.text.end = this.#bytes;
    this.#pending.length = 0;
    this.#excess = undefined;
  }

  /**
   * False where the record is too large by what is written of it: the rest need not be written, and must not, as each
   * event may hold a copy of a large record.
   */
  startEvent(): boolean {
    const { text } = this;
    if (this.#pending.length > 0) {
      if (this.#judgeLast() !== undefined) return false;
      this.#writeComma();
    }
    this.#pending.push(text.end);
    return true;
  }

  /**
   * Keeps the events of the record, all or none: a record must not be split over two batches. `full`: not kept;
   * take the batch and try again. Events that are more than one request may hold are a batch of their own, which
   * goes out in several requests.
   */
  keep(): Added {
    const { events } = this.#limits;
    const { end } = this.text;
    const pending = this.#pending;
    const excess = this.#judgeLast();
    if (excess !== undefined) return excess;
    const isOver = this.#offsets.length + pending.length > events || end > this.#bodyBytes;
    if (isOver && this.#offsets.length > 0) return 'full';
    for (const start of pending) this.#offsets.push(start);
    this.#writeComma();
    this.#bytes = this.text.end;
    return 'added';
  }

  /** An event that is JSON text already, or its bytes. */
  add(event: string | Uint8Array, stamp?: Stamp): Added {
    if (event.length > this.mostEventBytes) return 'event_too_large';
    this.startRecord();
    this.startEvent();
    if (typeof event === 'string') this.text.write(event);
    else this.text.copy(event, 0, event.length);
    if (stamp) stampLast(this.text, stamp);
    return this.keep();
  }

  /** Returns the batch with its memory and starts the next one, with the record that is not kept yet. */
  take(): Batch {
    const { text } = this;
    const { bytes, end } = text;
    const length = Math.max(0, this.#bytes - 1);
    const batch: Batch = { body: bytes.subarray(0, length), offsets: [...this.#offsets, length + 1] };
    const written = bytes.subarray(this.#bytes, end);
    // The next batch is likely to be as large as this one.
    text.bytes = takeBuffer(Math.max(FIRST_BYTES, Math.ceil(length * 1.1)));
    text.end = 0;
    text.reserve(written.length);
    written.copy(text.bytes);
    text.end = written.length;
    this.#pending = this.#pending.map((start) => start - this.#bytes);
    this.#offsets = [];
    this.#bytes = 0;
    return batch;
  }

  /** Gives the memory of a batch back, once nobody reads it any more. */
  release({ body }: Batch): void {
    giveBuffer(body);
  }

  /** Gives back the memory of the batch that would come next. Nothing may be added any more. */
  close(): void {
    const { text } = this;
    giveBuffer(text.bytes);
    text.bytes = NONE;
    text.end = 0;
  }

  #judgeLast(): TooLarge | undefined {
    const { end } = this.text;
    if (end - (this.#pending.at(-1) ?? end) > this.mostEventBytes) this.#excess ??= 'event_too_large';
    else if (end - this.#bytes > RECORD_BYTES) this.#excess ??= 'record_too_large';
    return this.#excess;
  }

  #writeComma(): void {
    const { text } = this;
    text.reserve(1);
    text.bytes[text.end] = COMMA;
    text.end += 1;
  }
}
