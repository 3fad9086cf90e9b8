import type { BenchPlan } from './options.ts';

/** Wall time on the machine of the last figures, in µs a record; of all contenders of a section together. */
const MICROS = { wholePath: 900, wholePathSlow: 1_200, stages: 400, persons: 900, cores: 900, memory: 170 };
const INGEST_MICROS = 900;
const DECISIONS_S = 40;
const START_UP_S = 18;
/** Making the history is most of it, then asking on the embedded database. */
const QUESTION_MICROS = { load: 200, ask: 150 };
/** On PostgreSQL alone, and over a tenth of the history as well. */
const GROWTH_MICROS = { load: 110, ask: 60 };
const OPENING_S = 5;

/** A rough guess: it depends on the machine, and doubles on a busy one. */
export function estimateSeconds(plan: BenchPlan): number {
  const {
    sections,
    wholePath,
    stages,
    persons,
    cores,
    memory,
    ingest,
    decisions,
    questions,
    growth,
    startUp,
  } = plan;
  const seconds: Readonly<Record<string, number>> = {
    'whole-path': wholePath.reduce(
      (sum, { records, latencyMs, rounds }) =>
        sum + (records * rounds * (latencyMs > 0 ? MICROS.wholePathSlow : MICROS.wholePath)) / 1e6,
      0,
    ),
    stages: (stages.records * (stages.rounds + 1) * MICROS.stages) / 1e6,
    persons: (persons.records * persons.rounds * MICROS.persons) / 1e6,
    cores: (cores.records * cores.rounds * MICROS.cores) / 1e6,
    memory: (memory.reduce((sum, records) => sum + records, 0) * MICROS.memory) / 1e6,
    ingest: ingest.rounds * ((ingest.events * INGEST_MICROS) / 1e6 + START_UP_S),
    decisions: decisions.rounds * DECISIONS_S,
    questions: (questions.events * (QUESTION_MICROS.load + questions.rounds * QUESTION_MICROS.ask)) / 1e6,
    growth: (growth.events * 1.1 * (GROWTH_MICROS.load + (growth.rounds + 1) * GROWTH_MICROS.ask)) / 1e6,
    'start-up': startUp.rounds * START_UP_S,
  };
  return [...sections].reduce((sum, name) => sum + (seconds[name] ?? 0), OPENING_S);
}

export function renderDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} seconds`;
  if (seconds < 90 * 60) return `${Math.ceil(seconds / 60)} minutes`;
  return `${(seconds / 3600).toFixed(1)} hours`;
}
