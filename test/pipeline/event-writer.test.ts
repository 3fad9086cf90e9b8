import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MappedEvent, toTargetEvent } from '../../src/contract/event.ts';
import { DeferredValues, readValues } from '../../src/contract/identity-fact.ts';
import type { MapOutcome } from '../../src/contract/outcome.ts';
import { createStamp, type Stamp } from '../../src/deliver/stamp.ts';
import { JsonToken } from '../../src/lib/json/json-token.ts';
import { parseJson } from '../../src/lib/json/parse-json.ts';
import { PropertyList } from '../../src/lib/json/property-list.ts';
import { RecordScanner } from '../../src/lib/json/record-scanner.ts';
import { RecordView, readField } from '../../src/lib/json/record-view.ts';
import { stringifyJson } from '../../src/lib/json/stringify-json.ts';
import { TextBuffer } from '../../src/lib/text-buffer.ts';
import { EventWriter } from '../../src/pipeline/event-writer.ts';
import { guessDelimiter } from '../../src/sources/formats/csv-row.ts';
import { createBytesParser, createRecordParser } from '../../src/sources/formats/parse-record.ts';
import { copyProperties, createRenames } from '../../src/sources/mapping/properties.ts';
import { bindSource, SOURCE_TYPES } from '../../src/sources/registry.ts';
import { createImportMap } from '../../src/sources/source.ts';

const write = (...events: readonly MappedEvent[]) => writeStamped(undefined, ...events);

function writeStamped(
  stamp: Stamp | undefined,
  ...events: readonly MappedEvent[]
): { readonly text: string; readonly hash: string } {
  const out = new TextBuffer(8); // grows on the way
  const writer = new EventWriter(out, stamp);
  const texts: string[] = [];
  let start = 0;
  const end = () => {
    if (out.end > start) texts.push(out.bytes.toString('utf8', start, out.end));
    start = out.end;
    return true;
  };
  writer.write(events, end);
  end();
  return { text: texts.join(), hash: writer.words.join() };
}

/** The rest of an outcome; values that were deferred are read, and must have the keys that were told of them. */
function withoutEvents(outcome: MapOutcome<MappedEvent>): object {
  if (outcome.kind === 'rejected') return outcome;
  const read = (values: Parameters<typeof readValues>[0] | undefined) => {
    if (values === undefined) return undefined;
    if (values instanceof DeferredValues) expect([...values.keys]).toEqual(Object.keys(values.values));
    return readValues(values);
  };
  const facts = outcome.facts.map((fact) =>
    fact.kind === 'person' ? { ...fact, set: read(fact.set), setOnce: read(fact.setOnce) } : fact,
  );
  return { ...outcome, facts, events: [] };
}

const withProperties = (properties: MappedEvent['properties']): MappedEvent => ({
  event: 'Order "Completed"\n',
  uuid: '0c3e5a10-1111-4b6e-8f00-000000000020',
  timestamp: '2023-03-14T09:26:53.123Z',
  properties,
});

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('"', '\\', '\u007f', '\u2028', 'ä', '€', '😀', '\ud800', 'x'.repeat(300)),
);
const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom('1e400', '12345678901234567890', '0.1234567890123456789', '-0').map(parseJson),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('1', '10', '__proto__', 'toJSON')), tie('value'), {
      maxKeys: 5,
    }),
  ),
}));

describe('the text of an event', () => {
  it('is what stringifyJson writes, of an object and of a list of properties, and both have one hash', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, value), { maxLength: 12 }), (members) => {
        const list = new PropertyList();
        list.set('distinct_id', 'user-1');
        for (const [name, member] of members) if (name !== '__proto__') list.set(name, member);
        const listed = withProperties(list);
        const event = toTargetEvent(listed);
        const written = write(listed);
        expect(written.text).toBe(stringifyJson(event));
        expect(write(event)).toEqual(written);
        expect(write(event, listed).text).toBe(`${written.text},${written.text}`);
      }),
      { numRuns: 300 },
    );
  });

  it('is the same of properties that are copied from the text of a record', () => {
    const scanner = new RecordScanner(new Set(['own', 'one']));
    let viewed = 0;
    fc.assert(
      fc.property(fc.dictionary(text, value), fc.boolean(), (own, isSpaced) => {
        const line = JSON.stringify({ own, one: own }, null, isSpaced ? 1 : 0);
        const bytes = Buffer.from(`${line}\n`);
        const view = scanner.scan(bytes, 0, bytes.length - 1) as
          | Readonly<Record<string, unknown>>
          | undefined;
        if (!view) return;
        viewed += 1;
        const copied = readField(view, 'own');
        if (!(copied instanceof JsonToken)) throw new Error('an object stays text');
        const parsed = (parseJson(line) as { readonly own: Record<string, unknown> }).own;
        const [fast, slow] = [copied, parsed].map((source) => {
          const list = new PropertyList();
          list.set('distinct_id', 'user-1');
          copyProperties(list, source, createRenames());
          list.set('one', source === copied ? readField(view, 'one') : parsed);
          return withProperties(list);
        });
        if (!fast || !slow) throw new Error('two events');
        expect(toTargetEvent(fast)).toEqual(toTargetEvent(slow));
        expect(write(fast)).toEqual(write(slow));
      }),
      { numRuns: 500 },
    );
    expect(viewed).toBeGreaterThan(100);
  });

  const root = new URL('../golden/', import.meta.url);
  const golden = SOURCE_TYPES.flatMap((source) =>
    readdirSync(new URL(source.type, root)).flatMap((name) =>
      source.versions.map((version) => ({ source, type: source.type, name, version })),
    ),
  );
  it.each(golden)('of $type@$version is that of the object, for every golden record of $name', (of) => {
    const { source, type, name, version } = of;
    const folder = new URL(`${type}/${name}/`, root);
    const files = readdirSync(folder);
    const options: object = files.includes('options.json')
      ? JSON.parse(readFileSync(new URL('options.json', folder), 'utf8'))
      : {};
    const bound = bindSource(source.block.parse({ type, from: 'x', ...options }));
    const isCsv = files.includes('input.csv');
    const [first = '', ...rest] = readFileSync(new URL(isCsv ? 'input.csv' : 'input.ndjson', folder), 'utf8')
      .trimEnd()
      .split('\n');
    const parse = isCsv
      ? createRecordParser({ kind: 'csv', delimiter: guessDelimiter(first) }, Buffer.from(first))
      : createRecordParser({ kind: 'json' }, undefined);
    let events = 0;
    let viewed = 0;
    const map = createImportMap(bound, { version });
    const parseView = isCsv ? undefined : createBytesParser({ kind: 'json' }, undefined, map.viewFields);
    for (const line of isCsv ? rest : [first, ...rest]) {
      const parsed = parse({ kind: 'record', member: undefined, line: 1, bytes: Buffer.from(line) });
      if (parsed.kind === 'rejected') continue;
      const plain = bound.createMap({ version })(parsed.value);
      const fast = map(parsed.value);
      const bytes = Buffer.from(`${line}\n`);
      const view = parseView?.(bytes, 0, bytes.length - 1);
      const seen = view?.kind === 'object' ? map(view.value) : undefined;
      if (view?.kind === 'object' && view.value instanceof RecordView) viewed += 1;
      if (seen) expect(withoutEvents(seen)).toEqual(withoutEvents(fast));
      if (plain.kind !== 'mapped' || fast.kind !== 'mapped') {
        expect(fast).toEqual(plain);
        continue;
      }
      expect(fast.facts).toEqual(plain.facts);
      if (seen?.kind === 'mapped') expect(write(...seen.events)).toEqual(write(...fast.events));
      for (const [at, event] of fast.events.entries()) {
        expect(event.properties).toBeInstanceOf(PropertyList);
        expect(write(event).text).toBe(stringifyJson(plain.events[at]));
        events += 1;
      }
    }
    expect(events).toBeGreaterThan(0);
    expect(viewed > 0).toBe(map.viewFields !== undefined);
  });
});

describe('a stamp', () => {
  const stamp = createStamp({ $import_job_id: 'shop "1"', analytics_source: 'amplitude' });

  it('is behind the properties of every event, and changes neither key nor content', () => {
    const first = withProperties({ distinct_id: 'ann', plan: 'pro' });
    const second = { ...first, uuid: '0c3e5a10-1111-4b6e-8f00-000000000021' };
    const stamped = writeStamped(stamp, first, second);
    const expected = [first, second].map((event) => ({
      ...event,
      properties: { ...event.properties, ...stamp?.properties },
    }));
    expect(stamped.text).toBe(expected.map((event) => JSON.stringify(event)).join());
    expect(stamped.hash).toBe(write(first, second).hash);
  });

  it("leaves a record's own property of that name, under another", () => {
    const own = { distinct_id: 'ann', analytics_source: 'shop', $import_job_id: 7 };
    const list = new PropertyList();
    for (const [name, value] of Object.entries(own)) list.set(name, value);
    const text = JSON.stringify(
      withProperties({
        distinct_id: 'ann',
        source_analytics_source: 'shop',
        source_$import_job_id: 7,
        ...stamp?.properties,
      }),
    );
    expect(writeStamped(stamp, withProperties(own)).text).toBe(text);
    expect(writeStamped(stamp, withProperties(list)).text).toBe(text);
  });

  it('leaves what two imports before have stamped, in whatever order a record has it', () => {
    const twice = { $import_job_id: 'second', source_$import_job_id: 'first', distinct_id: 'ann' };
    for (const entries of [Object.entries(twice), Object.entries(twice).toReversed()]) {
      const list = new PropertyList();
      for (const [name, value] of entries) list.set(name, value);
      for (const properties of [Object.fromEntries(entries) as typeof twice, list])
        expect(JSON.parse(writeStamped(stamp, withProperties(properties)).text)).toMatchObject({
          properties: {
            source_$import_job_id: 'first',
            source_source_$import_job_id: 'second',
            ...stamp?.properties,
          },
        });
    }
  });

  it('of no names is none', () => {
    expect(createStamp({})).toBeUndefined();
  });
});
