import type { TargetEvent } from '../../contract/event.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { shorten } from '../../lib/preview.ts';
import type { Fields } from '../../sources/mapping/table.ts';
import type { Field, Pair, SampledRecord } from './plan.ts';

const VALUE_MAX = 200;

/** Records and the events they become, of as many different events as there are. */
export function selectPairs(
  sampled: readonly (SampledRecord & { readonly file: string })[],
  count: number,
  hide: (record: Fields) => Fields = (record) => record,
): Pair[] {
  const mapped = sampled.flatMap(({ file, text, fields, outcome }) => {
    const event = outcome.kind === 'mapped' ? outcome.events[0] : undefined;
    return event
      ? [
          {
            file,
            event,
            record: fields ? listFields(hide(fields)) : [['', shorten(text, VALUE_MAX)] as const],
          },
        ]
      : [];
  });
  const firsts = [
    ...new Map(mapped.toReversed().map((pair) => [pair.event.event, pair])).values(),
  ].toReversed();
  const others = mapped.filter((pair) => !firsts.includes(pair));
  return [...firsts, ...others]
    .slice(0, count)
    .map(({ event, ...pair }) => ({ ...pair, event: eventFields(event) }));
}

const eventFields = ({ event, timestamp, uuid, properties }: TargetEvent): Field[] => {
  const { distinct_id, ...others } = properties;
  return [
    ['event', event],
    ['distinct_id', distinct_id],
    ['timestamp', timestamp],
    ['uuid', uuid],
    ...listFields(others),
  ];
};

/** Empty fields are left out: they add nothing to a comparison. */
function listFields(fields: Readonly<Record<string, unknown>>): Field[] {
  return Object.entries(fields).flatMap(([name, value]): Field[] => {
    const text = typeof value === 'string' ? value : stringifyJson(value);
    return ['', 'null', '{}', '[]'].includes(text) ? [] : [[name, shorten(text, VALUE_MAX)]];
  });
}
