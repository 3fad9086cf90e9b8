import { amplitudeRecord, type RecordFields } from './amplitude-record.ts';
import { amplitudeDay, amplitudeTime } from './amplitude-time.ts';
import type { Random } from './random.ts';
import { nextEvent } from './sample-events.ts';
import type { FactsBuilder, SampleOutcome } from './sample-facts.ts';
import { createPersons, type SamplePerson, SERVER_DEVICE } from './sample-persons.ts';

export const SAMPLE_APP = 187_520;
const HOUR_MS = 3_600_000;

/** Repeats stay among the first records, which surely lie in the first part: there they are `duplicate`. */
const DUPLICATES_WITHIN = 6_000;

/** Every how many visits an awkward record comes, and with which remainder first. */
const EVERY = {
  noIdentity: { visits: 97, first: 3 },
  badTime: { visits: 89, first: 5 },
  unreadable: { visits: 997, first: 7 },
  duplicate: { visits: 11, first: 4 },
} as const;

const BAD_TIMES = [
  '2023-02-30 10:00:00.000000',
  '0000-00-00 00:00:00.000000',
  'Invalid date',
  '2023-11-07 25:61:00.000000',
] as const;

/** A record before it has its device, ids and times. */
interface Draft {
  readonly type: string;
  readonly properties?: string;
  readonly outcome?: SampleOutcome;
  readonly groupProperties?: string;
}

/**
 * People come by, first without a name, some log in, and leave; now and then the customer's server
 * tells of them too. Writes one record at a time to `write`, and keeps the books.
 */
export class SampleVisits {
  readonly #random: Random;
  readonly #facts: FactsBuilder;
  readonly #people: readonly SamplePerson[];
  #visit = 0;

  constructor(people: number, random: Random, facts: FactsBuilder) {
    this.#random = random;
    this.#facts = facts;
    this.#people = createPersons(people, random);
  }

  /** Writes the visits whose records arrive in the hour from `hourMs`, until there are `until` records. */
  fillHour(hourMs: number, until: number, write: (text: string) => void): void {
    while (this.#facts.records < until) {
      for (const text of this.#visitRecords(hourMs)) {
        write(text);
        if (this.#facts.records >= until) break;
      }
    }
  }

  *#visitRecords(hourMs: number): Generator<string> {
    const random = this.#random;
    const visit = this.#visit++;
    // The first visits go round, so that even a small sample meets everybody that is awkward.
    const person = this.#people[visit < this.#people.length ? visit : random.below(this.#people.length)];
    if (!person) return;
    person.visits += 1;
    const lateMs = person.platform === 'mobile' && random.chance(0.03) ? (6 + random.below(60)) * HOUR_MS : 0;
    const uploadMs = hourMs + random.below(HOUR_MS * 0.7);
    const clock: Clock = { sessionId: uploadMs - lateMs, uploadMs, lateMs };

    yield* this.#awkwardRecords(visit, person, clock);
    let repeat = isDue(visit, EVERY.duplicate) && this.#facts.records < DUPLICATES_WITHIN;
    for (const draft of this.#plan(person)) {
      clock.uploadMs += 1_500 + random.below(40_000);
      const loggedIn =
        person.visits > person.loginVisit || (person.visits === person.loginVisit && draft.afterLogin);
      const fields = this.#fields(person, loggedIn, clock, draft);
      yield this.#record(fields, draft.outcome ?? 'delivered', clock);
      if (repeat && draft.outcome === undefined) {
        repeat = false;
        // Sent again by the device: same uuid, later upload, or the same in every byte.
        const again = visit % 2 === 0 ? fields : { ...fields, uploadMs: fields.uploadMs + 900 };
        yield this.#record(again, 'duplicate', clock);
      }
    }
    if (person.visits > person.loginVisit && random.chance(0.1)) yield this.#serverRecord(person, clock);
  }

  /** What happens in one visit. `afterLogin` matters only in the visit in which they log in. */
  *#plan(person: SamplePerson): Generator<Draft & { readonly afterLogin: boolean }> {
    const random = this.#random;
    const logsIn = person.visits === person.loginVisit;
    const events = 3 + random.below(9);
    const loginAfter = random.below(events);
    yield { type: 'session_start', outcome: 'session_marker', afterLogin: false };
    for (let number = 0; number < events; number += 1) {
      yield { ...nextEvent(person.platform, random), afterLogin: number > loginAfter };
      if (!logsIn || number !== loginAfter) continue;
      yield { type: 'Logged In', properties: '{"method":"password"}', afterLogin: true };
      yield { type: '$identify', outcome: 'feeds_people', afterLogin: true };
      if (person.company === undefined) continue;
      this.#facts.group(person.company);
      yield {
        type: '$groupidentify',
        outcome: 'feeds_groups',
        groupProperties: `{"company":{${JSON.stringify(person.company)}:{"seats":${5 + (person.company.length % 40)},"billing_id":9223372036854775807}}}`,
        afterLogin: true,
      };
    }
    yield { type: 'session_end', outcome: 'session_marker', afterLogin: true };
  }

  #fields(person: SamplePerson, loggedIn: boolean, clock: Clock, draft: Draft): RecordFields {
    const traits = loggedIn ? person.userTraits : person.anonymousTraits;
    this.#facts.seen(person.deviceId, loggedIn ? person.userId : undefined, true);
    return {
      app: SAMPLE_APP,
      type: draft.type,
      uuid: this.#random.uuid(),
      eventId: this.#facts.records + 1,
      eventTime: amplitudeTime(clock.uploadMs - clock.lateMs - 620),
      // The device's clock is off; event_time is corrected for it.
      clientMs: clock.uploadMs - clock.lateMs - 620 + (person.deviceId.charCodeAt(0) % 7) * 61_000,
      uploadMs: clock.uploadMs,
      sessionId: clock.sessionId,
      userIdJson: loggedIn ? person.userId : 'null',
      deviceIdJson: `"${person.deviceId}"`,
      eventPropertiesJson: draft.properties ?? '{}',
      userPropertiesJson: `${traits},"visits":${person.visits}}`,
      groupsJson: loggedIn && person.company !== undefined ? groupsOf(person.company, person.visits) : '{}',
      groupPropertiesJson: draft.groupProperties ?? '{}',
      deviceJson: person.device,
    };
  }

  #serverRecord(person: SamplePerson, clock: Clock): string {
    this.#facts.seen(person.serverDeviceId, person.userId, false);
    const fields: RecordFields = {
      ...this.#fields(person, true, clock, {
        type: 'Invoice Sent',
        properties: '{"amount":49.9,"currency":"EUR"}',
      }),
      deviceIdJson: `"${person.serverDeviceId}"`,
      userPropertiesJson: '{}',
      sessionId: -1,
      deviceJson: SERVER_DEVICE,
    };
    return this.#record(fields, 'delivered', clock);
  }

  *#awkwardRecords(visit: number, person: SamplePerson, clock: Clock): Generator<string> {
    const nobody = {
      userIdJson: 'null',
      deviceIdJson: 'null',
      userPropertiesJson: '{}',
      deviceJson: SERVER_DEVICE,
    };
    if (isDue(visit, EVERY.noIdentity)) {
      const fields = this.#bareFields(person, clock, 'Health Check');
      yield this.#record({ ...fields, ...nobody }, 'no_identity', clock);
    }
    if (isDue(visit, EVERY.badTime)) {
      const fields = this.#bareFields(person, clock, 'Item Opened');
      const eventTime = BAD_TIMES[Math.floor(visit / EVERY.badTime.visits) % BAD_TIMES.length] ?? '';
      yield this.#record({ ...fields, eventTime }, 'bad_timestamp', clock);
    }
    if (isDue(visit, EVERY.unreadable)) {
      const text = amplitudeRecord(this.#bareFields(person, clock, 'Item Opened'));
      this.#facts.count('unreadable', '', '');
      yield `${text.slice(0, 200)}\n`; // a line cut off in the middle
    }
  }

  /** Of a record that is going to be rejected: it tells nothing of anybody. */
  #bareFields(person: SamplePerson, clock: Clock, type: string): RecordFields {
    return {
      app: SAMPLE_APP,
      type,
      uuid: this.#random.uuid(),
      eventId: this.#facts.records + 1,
      eventTime: amplitudeTime(clock.uploadMs - 620),
      clientMs: clock.uploadMs - 620,
      uploadMs: clock.uploadMs,
      sessionId: clock.sessionId,
      userIdJson: 'null',
      deviceIdJson: `"${person.deviceId}"`,
      eventPropertiesJson: '{}',
      userPropertiesJson: '{}',
      groupsJson: '{}',
      groupPropertiesJson: '{}',
      deviceJson: person.device,
    };
  }

  #record(fields: RecordFields, outcome: SampleOutcome, clock: Clock): string {
    this.#facts.count(outcome, fields.type, amplitudeDay(clock.uploadMs - clock.lateMs - 620));
    return amplitudeRecord(fields);
  }
}

/** Times of a visit: `uploadMs` moves on, `lateMs` is how long the device kept it to itself. */
interface Clock {
  readonly sessionId: number;
  uploadMs: number;
  readonly lateMs: number;
}

const isDue = (visit: number, { visits, first }: { readonly visits: number; readonly first: number }) =>
  visit % visits === first;

/** Amplitude lists groups; now and then there is more than one of a type. */
const groupsOf = (company: string, visits: number) =>
  visits % 9 === 0
    ? `{"company":[${JSON.stringify(company)},"Side Project"]}`
    : `{"company":[${JSON.stringify(company)}]}`;
