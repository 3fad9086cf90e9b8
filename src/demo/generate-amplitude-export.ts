import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { renderAmplitudeDay } from './amplitude-record.ts';
import { Random } from './random.ts';
import { FactsBuilder, type SampleFacts } from './sample-facts.ts';
import { MIN_PERSONS } from './sample-persons.ts';
import { SAMPLE_APP, SampleVisits } from './sample-visits.ts';
import { createZipWriter } from './zip-writer.ts';

const zip = promisify(gzip);

export interface SampleOptions {
  /** Same seed, same records. @default 1 */
  readonly seed?: number;
  /** Records of the export, of all kinds together. @default 50,000 */
  readonly events?: number;
  /** Visitors, at least 8. @default 300 */
  readonly persons?: number;
}

/** The first hour of the sample. Constant, so that the same seed yields the same bytes on any day. */
const START_MS = Date.UTC(2023, 10, 6);
const HOUR_MS = 3_600_000;
const MIN_DAYS = 7;
/** Larger exports span more days, so that a member fits into memory. */
const EVENTS_A_DAY = 100_000;
/** A little above the average. */
const RECORD_BYTES = 1_700;
const MEMBERS_IN_FLIGHT = 3;

/** Visits by hour of the day. */
const BY_HOUR = [2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 13, 13, 12, 13, 14, 13, 12, 11, 12, 13, 14, 12, 8, 4];
const DAY_WEIGHT = BY_HOUR.reduce((sum, weight) => sum + weight, 0);

/**
 * Writes an Amplitude export in the form of its Export API: a zip of hourly `.json.gz` members, with the
 * irregularities of real ones. Memory is bounded, whatever the number of events.
 */
export async function generateAmplitudeExport(
  path: string,
  options: SampleOptions = {},
): Promise<SampleFacts> {
  const { seed = 1, events = 50_000, persons = 300 } = options;
  const facts = new FactsBuilder();
  const visits = new SampleVisits(Math.max(MIN_PERSONS, persons), new Random(seed), facts);
  const days = Math.max(MIN_DAYS, Math.ceil(events / EVENTS_A_DAY));
  const writer = await createZipWriter(path);
  const inFlight: { name: string; body: Promise<Buffer> }[] = [];
  let members = 0;
  let bytes = 0;

  const writeOldest = async () => {
    const oldest = inFlight.shift();
    if (oldest) await writer.add(oldest.name, await oldest.body);
  };

  try {
    let weight = 0;
    for (let hour = 0; hour < days * 24; hour += 1) {
      weight += BY_HOUR[hour % 24] ?? 0;
      const until = Math.floor((events * weight) / (days * DAY_WEIGHT));
      if (until === facts.records) continue;

      const hourMs = START_MS + hour * HOUR_MS;
      const buffer = new MemberBuffer((until - facts.records) * RECORD_BYTES);
      visits.fillHour(hourMs, until, (text) => buffer.add(text));
      members += 1;
      bytes += buffer.bytes.length;
      inFlight.push({ name: renderMemberName(hourMs), body: zip(buffer.bytes, { level: 1 }) });
      if (inFlight.length === MEMBERS_IN_FLIGHT) await writeOldest();
    }
    while (inFlight.length > 0) await writeOldest();
    await writer.close();
  } catch (error) {
    await Promise.allSettled(inFlight.map(({ body }) => body));
    await writer.abandon();
    throw error;
  }
  return facts.build(members, bytes);
}

/** The hour is not padded, as in real exports, which sort naturally and not as text. */
function renderMemberName(hourMs: number): string {
  const hour = new Date(hourMs).getUTCHours();
  return `${SAMPLE_APP}/${SAMPLE_APP}_${renderAmplitudeDay(hourMs)}_${hour}#0.json.gz`;
}

/** Text of one member, encoded as it is added: one emoji would double the memory of a long string. */
class MemberBuffer {
  #bytes: Buffer;
  #length = 0;

  /** Grows when the text is longer than `expectedBytes`. */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
  }

  add(text: string): void {
    const most = text.length * 3;
    if (this.#length + most > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + most));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}
