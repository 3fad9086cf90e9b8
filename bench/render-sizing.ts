import type { Figures } from './figures.ts';

/** Events a minute that a service takes without an approval. */
const USUAL_LIMIT = 10_000;
/** A part keeps its records as they were exported; gzip packs the measured ones so many times. */
const PACKED = 9;
const FINGERPRINT_BYTES = 24;

const VOLUMES = [
  ['1 million', 1e6],
  ['20 million', 20e6],
  ['100 million', 100e6],
  ['1 billion', 1e9],
  ['10 billion', 10e9],
] as const;

/** docs/sizing.md, computed from the figures of the benchmark. */
export function renderSizing(figures: Figures): string {
  const perSecond = read(figures, 'whole-path', 'Backhaul run, with Redis', 'perSecond');
  const micros = read(figures, 'whole-path', 'Backhaul run, with Redis', 'micros');
  const peakMb = read(figures, 'whole-path', 'Backhaul run, with Redis', 'peakMb');
  const manyPersons = read(figures, 'persons', 'Backhaul, every third record a new person', 'micros');
  const personMicros = read(figures, 'persons', 'Backhaul, every third record a new person', 'person');
  const embeddedMb = read(
    figures,
    'start-up',
    'run of 100 records, everything embedded, new data folder',
    'peakMb',
  );
  const title = figures.tables.find(({ section }) => section === 'whole-path')?.title ?? '';
  const recordBytes = 2145;
  const perMinute = Math.floor(perSecond) * 60;
  return `# Sizing

How long a migration takes, and what it needs. The figures are computed from [those of the benchmark](benchmark-figures.md) (${title.toLowerCase()}, one core of ${figures.about.machine}; generated Amplitude records of ${count(recordBytes)} bytes, 150 a person). Your records and machines differ: run \`npx backhaul plan migration.yaml\`, which computes time and space for the export at hand, and rehearse a month of it.

## What limits a migration

Usually the destination, not the machine. A service that takes ${count(USUAL_LIMIT)} events a minute lets ${count(Math.round(USUAL_LIMIT / 60))} a second through; one core makes about ${count(round(perSecond))}. Even an approval for 300,000 a minute (5,000 a second) keeps ${decimal(300_000 / 60 / perSecond)} cores busy.

| Limit | Who sets it | What raises it |
|---|---|---|
| events a minute, over all workers | \`limits.eventsPerMinute\`, the approval | an approval of the service |
| CPU | cores of all workers | more workers |
| answers of the destination | latency | \`limits.requestsInFlight\`, more workers |

## Time

| Records | at ${count(USUAL_LIMIT)} a minute | at 300,000 a minute (with approval) | one core, destination without limit |
|---|---|---|---|
${VOLUMES.map(
  ([name, records]) =>
    `| ${name} | ${duration(records / USUAL_LIMIT)} | ${duration(records / 300_000)} | ${duration(records / perMinute)} |`,
).join('\n')}

Each record counts as one event here. Above 20 million events, or ${count(USUAL_LIMIT)} a minute, a service has to agree first.

CPU is ${decimal(micros)} µs a record with 150 records a person, and ${decimal(manyPersons)} µs where every third record is a new person (${decimal(personMicros)} µs more for each new person).

## Space

| Records | export as gzip | staging, packed (S3) | staging, unpacked (folder) | fingerprints |
|---|---|---|---|---|
${VOLUMES.map(
  ([name, records]) =>
    `| ${name} | ${size((records * recordBytes) / PACKED)} | about the same | ${size(records * recordBytes)} | ${size(records * FINGERPRINT_BYTES)} |`,
).join('\n')}

In a folder parts are unpacked as long as ten times the packed sources and 2 GiB stay free, because packing costs a quarter of the CPU. \`backhaul rm exports\` removes parts, rejects and identity facts of a migration that is finished.

## Memory

Memory does not grow with the export (\`npm run bench -- --only memory\` measures it). The largest process of the measured run takes ${count(round(peakMb))} MB; a rehearsal with everything embedded takes ${count(round(embeddedMb))} MB while its database is made for the first time. Each part that a worker imports at once (\`BACKHAUL_WORKER_CONCURRENCY\`) is held in memory: 8 MiB unpacked, and its events.

## Which set-up

| Volume | Set-up |
|---|---|
| a rehearsal, up to some million records | one machine, nothing set: Redis, staging and database are embedded |
| up to 100 million | one machine with a disk for staging; \`BACKHAUL_DATA_DIR\` on it |
| up to billions | workers on several machines: \`REDIS_URL\`, \`BACKHAUL_STAGING=s3://…\`, and \`DATABASE_URL\` where the bundled API is used |

With a limit of events a minute, more workers than the limit needs do nothing but wait: at ${count(USUAL_LIMIT)} a minute one is enough, at 300,000 one or two, at a million ${Math.ceil(1_000_000 / 60 / perSecond) + 1}. They help where persons are many, records are large or the destination is far away.

This page is generated (\`UPDATE_GOLDEN=1 npx vitest run --config config/vitest.config.ts test/docs\` rewrites it).
`;
}

function read({ tables }: Figures, section: string, row: string, key: string): number {
  const cell = tables.find((table) => table.section === section)?.rows.find(({ name }) => name === row)
    ?.cells[key];
  if (typeof cell !== 'object') throw new Error(`the figures have no ${key} of "${row}" in ${section}`);
  return cell.median;
}

const count = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
const decimal = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 2 });
/** Two digits that count: the rest is noise of the machine. */
const round = (value: number): number => Number(value.toPrecision(2));

function duration(minutes: number): string {
  if (minutes < 90) return `${count(Math.max(1, minutes))} min`;
  if (minutes < 60 * 48) return `${decimal(minutes / 60)} h`;
  const days = minutes / 60 / 24;
  return days < 365 ? `${count(days)} days` : `${decimal(days / 365)} years`;
}

function size(bytes: number): string {
  const units = ['MB', 'GB', 'TB'];
  let value = bytes / 1e6;
  let at = 0;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${decimal(value)} ${units[at]}`;
}
