import { parseArgs } from 'node:util';

/** The parts of the benchmark, in the order in which they run. */
export const SECTIONS = [
  'whole-path',
  'stages',
  'persons',
  'cores',
  'memory',
  'ingest',
  'decisions',
  'questions',
  'growth',
  'start-up',
] as const;
export type SectionName = (typeof SECTIONS)[number];

export interface WholePathSize {
  readonly records: number;
  readonly latencyMs: number;
  readonly rounds: number;
}

/** What is measured, and how often. */
export interface BenchPlan {
  readonly sections: ReadonlySet<SectionName>;
  readonly wholePath: readonly WholePathSize[];
  readonly stages: { readonly records: number; readonly rounds: number };
  readonly persons: { readonly records: number; readonly rounds: number };
  readonly cores: { readonly records: number; readonly rounds: number };
  readonly memory: readonly number[];
  readonly ingest: { readonly events: number; readonly rounds: number };
  readonly decisions: { readonly requests: number; readonly rounds: number };
  readonly questions: { readonly events: number; readonly rounds: number; readonly limitS?: number };
  readonly growth: {
    readonly events: number;
    readonly rounds: number;
    readonly limitS: number;
    readonly folder: string | undefined;
  };
  readonly startUp: { readonly rounds: number };
}

export interface BenchOptions {
  readonly plan: BenchPlan;
  /** Where the figures go as JSON, beside the table on stdout. */
  readonly json: string | undefined;
  /** Whether to write the last figures in docs/. */
  readonly save: boolean;
  readonly against: string | undefined;
  readonly help: boolean;
}

export const USAGE = `usage: npm run bench -- [options]

  --full             every size: 0.1 and 1 million records, 10 million for memory (hours)
  --only <names>     sections, separated by commas: ${SECTIONS.join(', ')}
  --records <n>      records of the whole path, persons and cores, and the size that memory ends with
  --events <n>       events that questions are asked about, and that growth ends with
  --limit <s>        how long the database may work on one question: longer than the API lets it
  --keep <folder>    the PostgreSQL cluster of growth, whose histories are used again by the next run
  --latency <ms>     latencies of the destination, separated by commas
  --rounds <n>       rounds of each section
  --against <folder> another checkout, built, to be compared with in the same rounds
  --json <file>      write the figures as JSON, too
  --save             write docs/benchmark-figures.md and .json; sections not measured stay
`;

const QUICK_RECORDS = 20_000;
/** A start takes about a second of CPU, which is an eighth of such a run. */
const QUICK_WHOLE_PATH = 100_000;
const FULL_RECORDS = [100_000, 1_000_000];
const LATENCIES = [0, 60];
/** What grows is not cut off at the limit of the API. */
const GROWTH_LIMIT_S = 120;

export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      full: { type: 'boolean', default: false },
      only: { type: 'string' },
      records: { type: 'string' },
      events: { type: 'string' },
      limit: { type: 'string' },
      keep: { type: 'string' },
      latency: { type: 'string' },
      rounds: { type: 'string' },
      against: { type: 'string' },
      json: { type: 'string' },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { full } = values;
  const given = parseWhole('--records', values.records, 1);
  const events = parseWhole('--events', values.events, 1000);
  const limitS = parseWhole('--limit', values.limit, 1);
  const rounds = parseWhole('--rounds', values.rounds, 1);
  const latencies = values.latency?.split(',').map((text) => parseWhole('--latency', text, 0) ?? 0);
  const sizes = given === undefined ? (full ? FULL_RECORDS : [QUICK_WHOLE_PATH]) : [given];
  const records = given ?? (full ? 300_000 : QUICK_RECORDS);
  return {
    plan: {
      sections: parseSections(values.only, full),
      wholePath: sizes.flatMap((size) =>
        (latencies ?? LATENCIES).map((latencyMs) => ({
          records: size,
          latencyMs,
          rounds: rounds ?? (full ? (size > 300_000 ? 3 : 5) : latencyMs > 0 ? 1 : 3),
        })),
      ),
      stages: { records: Math.min(given ?? 15_000, 15_000), rounds: rounds ?? (full ? 7 : 3) },
      persons: { records, rounds: rounds ?? (full ? 3 : 1) },
      cores: { records, rounds: rounds ?? (full ? 3 : 1) },
      memory: given === undefined ? [100_000, 1_000_000, 10_000_000] : [Math.ceil(given / 10), given],
      ingest: { events: given ?? (full ? 100_000 : 10_000), rounds: rounds ?? (full ? 3 : 1) },
      decisions: { requests: given ?? (full ? 50_000 : 10_000), rounds: rounds ?? (full ? 3 : 1) },
      questions: {
        events: events ?? (full ? 1_000_000 : 50_000),
        rounds: rounds ?? (full ? 3 : 1),
        ...(limitS === undefined ? {} : { limitS }),
      },
      growth: {
        events: events ?? 10_000_000,
        rounds: rounds ?? 1,
        limitS: limitS ?? GROWTH_LIMIT_S,
        folder: values.keep,
      },
      startUp: { rounds: rounds ?? (full ? 7 : 3) },
    },
    json: values.json,
    save: values.save,
    against: values.against,
    help: values.help,
  };
}

/** These alone take an hour each, so they are left out unless they are asked for. */
const LONG: ReadonlySet<SectionName> = new Set(['memory', 'growth']);

function parseSections(text: string | undefined, full: boolean): ReadonlySet<SectionName> {
  if (text === undefined) return new Set(SECTIONS.filter((name) => full || !LONG.has(name)));
  const names = text.split(',').map((name) => {
    const known = SECTIONS.find((each) => each === name);
    if (known === undefined) throw new TypeError(`--only "${name}" is none of ${SECTIONS.join(', ')}`);
    return known;
  });
  return new Set(names);
}

function parseWhole(flag: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw new TypeError(`${flag} is "${text}"; give a whole number from ${least} on`);
}
