import {
  type RecordFields,
  renderAmplitudeDay,
  renderAmplitudeRecord,
  renderAmplitudeTime,
} from './amplitude-record.ts';
import type { Random } from './random.ts';
import { chooseEvent } from './sample-events.ts';
import type { FactsBuilder, SampleOutcome } from './sample-facts.ts';
import { createPersons, type SamplePerson, SERVER_DEVICE } from './sample-persons.ts';

export const SAMPLE_APP = 187_520;
const HOUR_MS = 3_600_000;

/** Repeats are among the first records, which are always in the first part: there they count as `duplicate`. */
const DUPLICATES_WITHIN = 6_000;

/** How many visits lie between two irregular records of a kind, and the first visit that has one. */
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

/** A record without its device, ids and times. */
interface Draft {
  readonly type: string;
  readonly properties?: string;
  readonly outcome?: SampleOutcome;
  readonly groupProperties?: string;
}

/**
 * Simulates visits: persons arrive anonymously, some log in, and leave; sometimes the customer's server sends
 * a record about them, too. Passes one record at a time to `write` and counts the expected outcomes.
 */
export class SampleVisits {
  readonly #random: Random;
  readonly #facts: FactsBuilder;
  readonly #persons: readonly SamplePerson[];
  #visit = 0;

  constructor(persons: number, random: Random, facts: FactsBuilder) {
    this.#random = random;
    this.#facts = facts;
    this.#persons = createPersons(persons, random);
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
    // The first visits go round all persons, so that even a small sample has every special case.
    const person = this.#persons[visit < this.#persons.length ? visit : random.below(this.#persons.length)];
    if (!person) return;
    person.visits += 1;
    const lateMs = person.platform === 'mobile' && random.chance(0.03) ? (6 + random.below(60)) * HOUR_MS : 0;
    const uploadMs = hourMs + random.below(HOUR_MS * 0.7);
    const clock: Clock = { sessionId: uploadMs - lateMs, uploadMs, lateMs };

    yield* this.#irregularRecords(visit, person, clock);
    let repeat = isDue(visit, EVERY.duplicate) && this.#facts.records < DUPLICATES_WITHIN;
    for (const draft of this.#plan(person)) {
      clock.uploadMs += 1_500 + random.below(40_000);
      const loggedIn =
        person.visits > person.loginVisit || (person.visits === person.loginVisit && draft.afterLogin);
      const fields = this.#fields(person, loggedIn, clock, draft);
      yield this.#record(fields, draft.outcome ?? 'delivered', clock);
      if (repeat && draft.outcome === undefined) {
        repeat = false;
        // Sent again by the device: same uuid and a later upload, or the same bytes.
        const again = visit % 2 === 0 ? fields : { ...fields, uploadMs: fields.uploadMs + 900 };
        yield this.#record(again, 'duplicate', clock);
      }
    }
    if (person.visits > person.loginVisit && random.chance(0.1)) yield this.#serverRecord(person, clock);
  }

  /** The records of one visit. `afterLogin` matters only in the visit with the login. */
  *#plan(person: SamplePerson): Generator<Draft & { readonly afterLogin: boolean }> {
    const random = this.#random;
    const logsIn = person.visits === person.loginVisit;
    const events = 3 + random.below(9);
    const loginAfter = random.below(events);
    yield { type: 'session_start', outcome: 'session_marker', afterLogin: false };
    for (let number = 0; number < events; number += 1) {
      yield { ...chooseEvent(person.platform, random), afterLogin: number > loginAfter };
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
      eventTime: renderAmplitudeTime(clock.uploadMs - clock.lateMs - 620),
      // The device's clock is wrong; event_time is corrected.
      clientMs: clock.uploadMs - clock.lateMs - 620 + (person.deviceId.charCodeAt(0) % 7) * 61_000,
      uploadMs: clock.uploadMs,
      sessionId: clock.sessionId,
      userIdJson: loggedIn ? person.userId : 'null',
      deviceIdJson: `"${person.deviceId}"`,
      eventPropertiesJson: draft.properties ?? '{}',
      userPropertiesJson: `${traits},"visits":${person.visits}}`,
      groupsJson:
        loggedIn && person.company !== undefined ? renderGroups(person.company, person.visits) : '{}',
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

  *#irregularRecords(visit: number, person: SamplePerson, clock: Clock): Generator<string> {
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
      const text = renderAmplitudeRecord(this.#bareFields(person, clock, 'Item Opened'));
      this.#facts.count('unreadable', '', '');
      yield `${text.slice(0, 200)}\n`; // a line cut off in the middle
    }
  }

  /** Fields of a record that will be rejected: no facts about anybody. */
  #bareFields(person: SamplePerson, clock: Clock, type: string): RecordFields {
    return {
      app: SAMPLE_APP,
      type,
      uuid: this.#random.uuid(),
      eventId: this.#facts.records + 1,
      eventTime: renderAmplitudeTime(clock.uploadMs - 620),
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
    this.#facts.count(outcome, fields.type, renderAmplitudeDay(clock.uploadMs - clock.lateMs - 620));
    return renderAmplitudeRecord(fields);
  }
}

/** Times of a visit: `uploadMs` advances; `lateMs` is the delay between event and upload. */
interface Clock {
  readonly sessionId: number;
  uploadMs: number;
  readonly lateMs: number;
}

const isDue = (visit: number, { visits, first }: { readonly visits: number; readonly first: number }) =>
  visit % visits === first;

/** Amplitude lists groups; some visits have more than one of a type. */
const renderGroups = (company: string, visits: number) =>
  visits % 9 === 0
    ? `{"company":[${JSON.stringify(company)},"Side Project"]}`
    : `{"company":[${JSON.stringify(company)}]}`;
