import type { TargetEvent } from '../../contract/event.ts';
import type { SkipReason } from '../../contract/outcome.ts';
import { hideQuoted } from '../rejects/hide-quoted.ts';
import { compareFields, listTopLevelFates } from './compare-fields.ts';
import { TimeCounts } from './event-times.ts';
import { findGroupTypes } from './find-group-types.ts';
import { findOwnStamps } from './find-own-stamps.ts';
import { findSharedIds } from './find-shared-ids.ts';
import { selectPairs } from './pairs.ts';
import type { Expected, Plan, PlanFile, PlanInput, SampledFile, SampledRecord } from './plan.ts';
import { countSampledPeople } from './sample-people.ts';

const PAIRS = 3;
/** Younger events may be charged as live traffic in spite of `historical_migration`. */
const YOUNG_MS = 48 * 3_600_000;

/** What a run would do, scaled up from the sample. */
export function buildPlan(input: PlanInput): Plan {
  const { migration, source, destination, groupIdentifyEvent, limits, approval, window, sample } = input;
  const files = estimateFiles(input.files, sample);
  const records = sum(files.map((file) => file.records));
  const exact = sample.length === files.length && sample.every((file) => file.complete);

  const sampled = sample.flatMap(({ file, records: kept }) => kept.map((record) => ({ ...record, file })));
  const scale = sampled.length === 0 ? 0 : records / sampled.length;
  const estimated = (inSample: number) => Math.round(inSample * scale);

  const events = sampled.flatMap(({ outcome }) => (outcome.kind === 'mapped' ? outcome.events : []));
  const times = events.map(({ timestamp }) => timestamp).toSorted();
  const [from, to] = [times[0], times.at(-1)];
  const eventCount = estimated(events.length);
  const young = new Date(input.now.getTime() - YOUNG_MS).toISOString();

  return {
    migration,
    source: {
      type: source.type,
      timezone: source.timezone,
      ...(source.geoip === undefined ? {} : { geoip: source.geoip }),
    },
    destination: destination ?? 'bundled',
    groupIdentifyEvent,
    limits,
    approval,
    ...(input.sharedDevices === undefined ? {} : { sharedDevices: input.sharedDevices }),
    files,
    bytes: sum(files.map((file) => file.bytes)),
    ...(window ? { window } : {}),
    sample: { files: sample.length, records: sampled.length },
    records: { count: records, exact },
    events: { count: eventCount, exact: exact && sampled.length === records },
    timeSpan: from !== undefined && to !== undefined ? { from, to } : undefined,
    eventsByName: countNames(events).map(([event, inSample]) => ({
      event,
      inSample,
      estimated: estimated(inSample),
    })),
    times: countTimes(times).toEventTimes(source.timezone, false),
    people: countSampledPeople(sampled.map(({ outcome }) => outcome)),
    fields: compareFields(sampled, source.listFieldFates ?? listTopLevelFates(source.knownFields)),
    pairs: selectPairs(sampled, PAIRS, source.hideHashed),
    skips: byReason(
      sampled.flatMap(({ outcome, file }) =>
        outcome.kind === 'skipped' ? [{ reason: outcome.reason, file, detail: '' }] : [],
      ),
      estimated,
    ).map(({ reason, inSample, estimated }) => ({ reason, inSample, estimated })),
    rejects: byReason(
      sampled.flatMap(({ outcome, file }) =>
        outcome.kind === 'rejected'
          ? [
              {
                ...outcome,
                detail: source.hideHashed ? hideQuoted(outcome.reason, outcome.detail) : outcome.detail,
                file,
              },
            ]
          : [],
      ),
      estimated,
    ),
    ...(input.notes && input.notes.size > 0
      ? {
          notes: mostFirst(input.notes).map(([note, inSample]) => ({
            note,
            inSample,
            estimated: estimated(inSample),
          })),
        }
      : {}),
    warnings: [
      explainEmptyWindow(sampled),
      findSharedIds(events),
      findOwnStamps(events, input.importId),
      findGroupTypes(sampled.map(({ outcome }) => outcome)),
      ...input.unmatched,
    ].filter((text) => text !== undefined),
    youngEvents: times.filter((time) => time > young).length,
    durationMinutes: limits.eventsPerMinute === undefined ? undefined : eventCount / limits.eventsPerMinute,
  };
}

/** Whether nothing is left of the sample: a window may have been meant for other years, or the files are others. */
function explainEmptyWindow(sampled: readonly SampledRecord[]): string | undefined {
  const times = sampled.flatMap(({ outcome }) =>
    outcome.kind === 'skipped' && OUTSIDE.has(outcome.reason) && outcome.of ? [outcome.of.timestamp] : [],
  );
  if (times.length === 0 || sampled.some(({ outcome }) => outcome.kind === 'mapped')) return undefined;
  const [first, last] = [times.toSorted()[0], times.toSorted().at(-1)];
  return `No sampled record is inside the window: those that were read are of ${first} to ${last}. Check window.from and window.until; "plan --full" counts every record.`;
}

const OUTSIDE: ReadonlySet<SkipReason> = new Set<SkipReason>(['before_window', 'after_window']);

/** A sampled file has its own density of records; the others are given the average of those. */
function estimateFiles(files: readonly PlanFile[], sample: readonly SampledFile[]): Plan['files'] {
  const sampled = new Map(sample.map((file) => [file.file, file]));
  const bytesRead = sum(sample.map((file) => file.bytesRead));
  const density = bytesRead === 0 ? 0 : sum(sample.map((file) => file.recordsRead)) / bytesRead;
  return files.map(({ name, bytes }) => {
    const own = sampled.get(name);
    if (own?.complete) return { name, bytes, records: own.recordsRead, sampled: true };
    const ownDensity = own && own.bytesRead > 0 ? own.recordsRead / own.bytesRead : density;
    const records = Math.max(own?.recordsRead ?? 0, Math.round(bytes * ownDensity));
    return { name, bytes, records, sampled: own !== undefined };
  });
}

/** Which files to sample when there are too many for all: the first, the last, and evenly between. */
export function chooseFiles<F>(files: readonly F[], count: number): F[] {
  if (files.length <= count) return [...files];
  const indexes = Array.from({ length: count }, (_, i) =>
    Math.round((i * (files.length - 1)) / Math.max(1, count - 1)),
  );
  return files.filter((_, index) => indexes.includes(index));
}

function countTimes(times: readonly string[]): TimeCounts {
  const counts = new TimeCounts();
  for (const time of times) counts.add(time);
  return counts;
}

function countNames(events: readonly TargetEvent[]): [string, number][] {
  return mostFirst(countBy(events.map(({ event }) => event)));
}

/** Outcomes by reason, most frequent first, each with the first record that met it. */
function byReason<Reason extends string>(
  outcomes: readonly { readonly reason: Reason; readonly file: string; readonly detail: string }[],
  estimated: (inSample: number) => number,
): (Expected<Reason> & { file: string; example: string })[] {
  const found = new Map<Reason, { inSample: number; file: string; example: string }>();
  for (const { reason, file, detail } of outcomes) {
    const known = found.get(reason);
    if (known) known.inSample += 1;
    else found.set(reason, { inSample: 1, file, example: detail });
  }
  return [...found]
    .map(([reason, facts]) => ({ reason, ...facts, estimated: estimated(facts.inSample) }))
    .toSorted((a, b) => b.inSample - a.inSample);
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const mostFirst = <Name extends string>(counts: ReadonlyMap<Name, number>) =>
  [...counts].toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
