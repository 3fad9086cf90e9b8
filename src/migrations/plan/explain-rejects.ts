import { type Manifest, tooManyRejects } from '../../../config/manifest/manifest.ts';
import type { RejectReason } from '../../contract/outcome.ts';
import { formatCount, formatShare } from './format-text.ts';
import type { Plan } from './plan.ts';

/** What a pass over all records counted; undefined where only a sample was read. */
export interface AllRecords {
  readonly counts: { readonly read: number; readonly rejected: number };
  readonly byReason: Readonly<Record<string, number>>;
}

export interface RejectRules {
  readonly failAbove: Manifest['rejects']['failAbove'];
  /** Whether the manifest declares the mapping of columns, so that it can be corrected there. */
  readonly isDeclared: boolean;
}

/**
 * Why a run would probably end with exit code 3, and the likely cause; undefined where it would not. A share is
 * judged by the sample, a number by the estimate.
 */
export function explainRejects(
  plan: Plan,
  { failAbove, isDeclared }: RejectRules,
  all?: AllRecords,
): string | undefined {
  const inSample = sum(plan.rejects.map((reject) => reject.inSample));
  const sampled = all?.counts ?? { read: plan.sample.records, rejected: inSample };
  const judged =
    all || typeof failAbove === 'string'
      ? sampled
      : { read: plan.records.count, rejected: sum(plan.rejects.map(({ estimated }) => estimated)) };
  const { read, rejected } = sampled;
  const isWhole = rejected > 0 && rejected === read;
  if (!isWhole && !tooManyRejects(failAbove, judged)) return undefined;
  const records = all ? 'records' : 'sampled records';
  const main = findMainReason(plan, all);
  return [
    isWhole
      ? `All ${formatCount(read)} ${records} are rejected, so nothing would arrive.`
      : `${formatCount(rejected)} of ${formatCount(read)} ${records} (${formatShare(rejected / read)}) are rejected; above ${failAbove} (rejects.failAbove) a run ends with exit code 3.`,
    ...(main
      ? [
          `Most frequent: ${main.reason}${main.example === undefined ? '' : `, for example in ${main.file}: ${main.example}`}`,
          `Likely cause: ${(isDeclared ? DECLARED_CAUSES[main.reason] : undefined) ?? CAUSES[main.reason]}`,
        ]
      : []),
  ].join('\n');
}

interface MainReason {
  readonly reason: RejectReason;
  readonly file?: string;
  readonly example?: string;
}

function findMainReason(plan: Plan, all: AllRecords | undefined): MainReason | undefined {
  if (!all) return plan.rejects[0];
  const [most] = (Object.keys(CAUSES) as RejectReason[])
    .filter((reason) => (all.byReason[reason] ?? 0) > 0)
    .toSorted((a, b) => (all.byReason[b] ?? 0) - (all.byReason[a] ?? 0));
  return most && { ...plan.rejects.find(({ reason }) => reason === most), reason: most };
}

const OTHER_EXPORT =
  'the files are another export than source.type says. Compare a line of a file with the fields that the plan lists as read.';

/** What a vendor's own export looks like when it is read wrongly. */
const CAUSES: Readonly<Record<RejectReason, string>> = {
  unreadable:
    'the files have another format, encoding or delimiter than the source of the manifest, or are damaged.',
  not_an_object: OTHER_EXPORT,
  record_too_large: 'several records lie on one line, or a field holds whole documents.',
  no_event_name: OTHER_EXPORT,
  no_identity: OTHER_EXPORT,
  no_timestamp: OTHER_EXPORT,
  bad_timestamp: OTHER_EXPORT,
  in_the_future: 'the clocks of clients were wrong, or the times stand for something planned.',
  id_too_long: 'the field of the id holds something else, such as a token or a list.',
  event_name_too_long: 'the field of the event name holds something else, such as an address or a text.',
  bad_field: 'a field has another type than is documented; the example names it.',
  event_too_large: 'a field holds whole documents.',
  same_id_other_content: 'the ids of the records are not unique.',
  refused: 'the destination refused the events; the example says why.',
};

/** The settings of a declared mapping that decide these. */
const DECLARED_CAUSES: Partial<Readonly<Record<RejectReason, string>>> = {
  no_event_name: 'mapping.event names another column than the one that holds the names of events.',
  no_identity: 'mapping.distinctId names another column than the one that holds the ids of users.',
  no_timestamp: 'mapping.timestamp.column names another column than the one that holds the times.',
  bad_timestamp: 'the times are written in another form than mapping.timestamp.format says.',
  in_the_future:
    'mapping.timestamp.column holds another time, such as an end or a renewal, or mapping.timestamp.format names a larger unit.',
  event_too_large: 'a column holds whole documents; leave it out with mapping.exclude.',
  record_too_large:
    'several records lie on one line, or a column holds whole documents, which each item of mapping.unnest repeats.',
  same_id_other_content: 'the columns of mapping.key do not identify a record; name more of them.',
};

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
