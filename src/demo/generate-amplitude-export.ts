import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { amplitudeDay } from './amplitude-time.ts';
import { MemberBuffer } from './member-buffer.ts';
import { Random } from './random.ts';
import { FactsBuilder, type SampleFacts } from './sample-facts.ts';
import { MIN_PEOPLE } from './sample-persons.ts';
import { SAMPLE_APP, SampleVisits } from './sample-visits.ts';
import { createZipWriter } from './zip-writer.ts';

const zip = promisify(gzip);

export interface SampleOptions {
  /** Same seed, same records. Default 1. */
  readonly seed?: number;
  /** Records of the export, all kinds together. Default 50,000. */
  readonly events?: number;
  /** Visitors. Default 300, at least 8. */
  readonly people?: number;
}

/** The first hour of the sample. Fixed: neither clock nor chance has a part in it. */
const START_MS = Date.UTC(2023, 10, 6);
const HOUR_MS = 3_600_000;
const MIN_DAYS = 7;
/** Larger exports span more days, so that a member stays small enough to be held. */
const EVENTS_A_DAY = 100_000;
/** A little above the average. */
const RECORD_BYTES = 1_700;
const MEMBERS_IN_FLIGHT = 3;

/** Visits by hour of the day. */
const BY_HOUR = [2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 13, 13, 12, 13, 14, 13, 12, 11, 12, 13, 14, 12, 8, 4];
const DAY_WEIGHT = BY_HOUR.reduce((sum, weight) => sum + weight, 0);

/**
 * Writes an Amplitude export as its Export API hands it out: a zip of hourly `.json.gz` members, with
 * all that makes real ones awkward. Memory stays flat however many events are asked for.
 */
export async function generateAmplitudeExport(
  path: string,
  options: SampleOptions = {},
): Promise<SampleFacts> {
  const { seed = 1, events = 50_000, people = 300 } = options;
  const facts = new FactsBuilder();
  const visits = new SampleVisits(Math.max(MIN_PEOPLE, people), new Random(seed), facts);
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
      inFlight.push({ name: memberName(hourMs), body: zip(buffer.bytes, { level: 1 }) });
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

/** The hour is not padded: exports sort naturally, not as text. */
function memberName(hourMs: number): string {
  const hour = new Date(hourMs).getUTCHours();
  return `${SAMPLE_APP}/${SAMPLE_APP}_${amplitudeDay(hourMs)}_${hour}#0.json.gz`;
}
