import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { csvOptions } from '../../../src/sources/csv/index.ts';
import { findUnmatched } from '../../../src/sources/declared/find-unmatched.ts';
import { createRecordParser } from '../../../src/sources/formats/parse-record.ts';
import { getSourceType } from '../../../src/sources/registry.ts';
import { createMapper } from '../create-mapper.ts';

/** `exclude` and `rename` reach whatever becomes a property, in both declared sources. */

const SECRET = 'alice@example.com';
const base = { event: { column: 'action' }, distinctId: { column: 'user_id' }, timestamp: { column: 'at' } };
const record = {
  action: 'Opened',
  user_id: 'u-1',
  at: '2023-03-14T09:26:53Z',
  plan: 'pro',
};

interface Case {
  /** Where `SECRET` is, beside the fields above. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly mapping?: object;
  /** The name that reaches it. */
  readonly name: string;
  /** Where a rename of that name to `mail` puts it; undefined where it cannot be renamed. */
  readonly renamed: 'event' | 'set' | 'setOnce' | 'group' | undefined;
}

const profile = { email: SECRET, city: 'Rome' };
const CASES: Readonly<Record<string, Case>> = {
  'a column': { fields: { email: SECRET }, name: 'email', renamed: 'event' },
  'a column with a dot in its name': {
    fields: { 'user.email': SECRET },
    name: 'user.email',
    renamed: 'event',
  },
  'a nested path': {
    fields: { profile },
    mapping: { jsonColumns: ['profile'] },
    name: 'profile.email',
    renamed: 'event',
  },
  'a nested path through a name with a dot': {
    fields: { profile: { 'home.address': profile } },
    mapping: { jsonColumns: ['profile'] },
    name: 'profile.home.address.email',
    renamed: 'event',
  },
  'a nested path in a list': {
    fields: { profiles: [profile, { ...profile }] },
    mapping: { jsonColumns: ['profiles'] },
    name: 'profiles.email',
    renamed: undefined,
  },
  'a field of a spread column': {
    fields: { props: profile },
    mapping: { jsonColumns: ['props'], spreadColumns: ['props'] },
    name: 'email',
    renamed: 'event',
  },
  'a field of a spread column by its path': {
    fields: { props: profile },
    mapping: { jsonColumns: ['props'], spreadColumns: ['props'] },
    name: 'props.email',
    renamed: 'event',
  },
  'what is nested in a field of a spread column': {
    fields: { props: { profile } },
    mapping: { jsonColumns: ['props'], spreadColumns: ['props'] },
    name: 'profile.email',
    renamed: 'event',
  },
  'what is nested in a field of a spread column, by its path': {
    fields: { props: { profile } },
    mapping: { jsonColumns: ['props'], spreadColumns: ['props'] },
    name: 'props.profile.email',
    renamed: 'event',
  },
  'a whole spread column': {
    fields: { props: profile },
    mapping: { jsonColumns: ['props'], spreadColumns: ['props'] },
    name: 'props',
    renamed: undefined,
  },
  'a column of the person': {
    fields: { email: SECRET },
    mapping: { person: { set: { columns: ['email'] } } },
    name: 'email',
    renamed: 'set',
  },
  'a column of the person, by its prefix': {
    fields: { user_email: SECRET },
    mapping: { person: { set: { prefix: 'user_' } } },
    name: 'user_email',
    renamed: 'set',
  },
  'what is nested in a column of the person': {
    fields: { profile },
    mapping: { jsonColumns: ['profile'], person: { setOnce: { columns: ['profile'] } } },
    name: 'profile.email',
    renamed: 'setOnce',
  },
  'a column of a group': {
    fields: { company: 'acme', company_owner: SECRET },
    mapping: { groups: [{ type: 'company', column: 'company', set: { prefix: 'company_' } }] },
    name: 'company_owner',
    renamed: 'group',
  },
  'what is nested in a column of a group': {
    fields: { company: 'acme', owner: profile },
    mapping: {
      jsonColumns: ['owner'],
      groups: [{ type: 'company', column: 'company', set: { columns: ['owner'] } }],
    },
    name: 'owner.email',
    renamed: 'group',
  },
  'one of several columns of an id': {
    fields: { email: SECRET },
    mapping: { distinctId: { column: ['user_id', 'email'] } },
    name: 'email',
    renamed: 'event',
  },
};

/** The record as the reader of each format hands it to the map. */
function toRecord(source: string, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (source === 'jsonl') return { ...record, ...fields };
  const cells = Object.entries({ ...record, ...fields });
  const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const rows = Papa.unparse([cells.map(([name]) => name), cells.map(([, value]) => toCell(value))], {
    newline: '\n',
  }).split('\n');
  const [header = '', row = ''] = rows;
  const parse = createRecordParser({ kind: 'csv', delimiter: ',' }, Buffer.from(header));
  const parsed = parse({ kind: 'record', member: undefined, line: 2, bytes: Buffer.from(row) });
  if (parsed.kind !== 'object') throw new Error(parsed.detail);
  return parsed.value;
}

function mapOne(source: string, { fields, mapping = {} }: Case, names: object, version?: number) {
  const map = createMapper(source, { mapping: { ...base, ...mapping, ...names } }, { version });
  const outcome = map(toRecord(source, fields));
  if (outcome.kind !== 'mapped') throw new Error(stringifyJson(outcome));
  return outcome;
}

function readPlaces({ events, facts }: ReturnType<typeof mapOne>) {
  const of = <K extends IdentityFact['kind']>(kind: K) =>
    facts.find((fact): fact is Extract<IdentityFact, { kind: K }> => fact.kind === kind);
  return {
    event: events[0]?.properties,
    set: of('person')?.set,
    setOnce: of('person')?.setOnce,
    group: of('group')?.set,
  };
}

const EACH = ['jsonl', 'csv'].flatMap((source) =>
  Object.entries(CASES).map(([what, each]) => ({ source, what, each })),
);

describe.each(EACH)('$what of $source', ({ source, each }) => {
  it('is sent where nothing excludes it, so that the tests below mean something', () => {
    if (each.name === 'props') return;
    expect(stringifyJson(mapOne(source, each, {}))).toContain(SECRET);
  });

  it('is left behind by exclude, and nothing else is', () => {
    const outcome = mapOne(source, each, { exclude: [each.name] });
    expect(stringifyJson(outcome)).not.toContain(SECRET);
    expect(outcome.events[0]?.properties).toMatchObject({ distinct_id: 'u-1', plan: 'pro' });
    const hasCity = stringifyJson(each.fields).includes('Rome') && each.name !== 'props';
    expect(stringifyJson(outcome).includes('Rome')).toBe(hasCity);
  });

  it('is renamed once, where it is', () => {
    if (each.renamed === undefined) return;
    const outcome = mapOne(source, each, { rename: { [each.name]: 'mail' } });
    expect(readPlaces(outcome)[each.renamed]).toMatchObject({ mail: SECRET });
    const mentions = stringifyJson(outcome).split(SECRET).length - 1;
    expect(mentions, stringifyJson(outcome)).toBe(1);
  });

  it('is left behind when it is both excluded and renamed', () => {
    const outcome = mapOne(source, each, { exclude: [each.name], rename: { [each.name]: 'mail' } });
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  });

  it('gets no name that the destination acts upon', () => {
    if (each.renamed !== 'event') return;
    const { event } = readPlaces(mapOne(source, each, { rename: { [each.name]: '$set' } }));
    expect(event).toMatchObject({ source_$set: SECRET });
    expect(event).not.toHaveProperty(['$set']);
  });
});

describe('excluding and renaming', () => {
  const nested = { context: { traits: { email: SECRET, plan: 'pro' }, os: 'x' } };

  it('do not repeat what was spread from inside an object', () => {
    const outcome = mapOne(
      'jsonl',
      { fields: nested, mapping: { spreadColumns: ['context.traits'] }, name: '', renamed: undefined },
      { exclude: ['email'] },
    );
    expect(outcome.events[0]?.properties).toMatchObject({ plan: 'pro', context: { os: 'x' } });
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  });

  const takers: readonly (readonly [string, object])[] = [
    ['set', { person: { set: { columns: ['props'] } } }],
    ['group', { groups: [{ type: 'company', column: 'company', set: { columns: ['props'] } }] }],
  ];
  it.each(takers)('reach a field of what is spread in the %s that has it, too', (place, mapping) => {
    const props = { email: SECRET, plan: 'team', list: [{ email: SECRET }] };
    const outcome = mapOne(
      'jsonl',
      {
        fields: { company: 'acme', props },
        mapping: { spreadColumns: ['props'], ...mapping },
        name: '',
        renamed: undefined,
      },
      { exclude: ['email', 'list.email'] },
    );
    expect(stringifyJson(outcome)).not.toContain(SECRET);
    expect(readPlaces(outcome)).toMatchObject({ [place]: { props: { plan: 'team', list: [{}] } } });
  });

  it.each(['email', 'traits.email', 'context.traits.email'])(
    'of %s reach an object that is spread, and the one around it that is spread, too',
    (name) => {
      const outcome = mapOne(
        'jsonl',
        {
          fields: { context: { traits: { email: SECRET, seats: 3 }, page: 'home' } },
          mapping: { spreadColumns: ['context', 'context.traits'] },
          name: '',
          renamed: undefined,
        },
        { exclude: [name] },
      );
      expect(outcome.kind).toBe('mapped');
      expect(stringifyJson(outcome)).not.toContain(SECRET);
      expect(readPlaces(outcome)).toMatchObject({ event: { seats: 3, page: 'home' } });
    },
  );

  it('of an object leave its spread part in, which is named for itself', () => {
    const outcome = mapOne(
      'jsonl',
      { fields: nested, mapping: { spreadColumns: ['context.traits'] }, name: '', renamed: undefined },
      { exclude: ['context', 'email'] },
    );
    expect(outcome.events[0]?.properties).toMatchObject({ plan: 'pro' });
    expect(outcome.events[0]?.properties).not.toHaveProperty('context');
  });

  it('leave the record and the ids of its columns as they are', () => {
    const fields = { ...record, ...nested };
    const before = stringifyJson(fields);
    const map = createMapper('jsonl', { mapping: { ...base, exclude: ['user_id', 'context.traits.email'] } });
    expect(map(fields)).toMatchObject({ kind: 'mapped', events: [{ properties: { distinct_id: 'u-1' } }] });
    expect(stringifyJson(fields)).toBe(before);
  });

  it('leave out an object that nothing remains of', () => {
    const outcome = mapOne(
      'jsonl',
      { fields: { user: { email: SECRET } }, name: '', renamed: undefined },
      { exclude: ['user.email'] },
    );
    expect(outcome.events[0]?.properties).not.toHaveProperty('user');
  });

  it('in the first version missed what was spread or nested: migrations pinned to it go on like that', () => {
    const spread = CASES['a field of a spread column'] as Case;
    expect(stringifyJson(mapOne('jsonl', spread, { exclude: ['email'] }, 1))).toContain(SECRET);
  });
});

describe('names that no sampled record has', () => {
  const mapping = (more: object) => csvOptions.parse({ mapping: { ...base, ...more } }).mapping;
  const records = [
    { ...record, email: SECRET },
    { ...record, props: '{"profile":{"email":"x"},"visits":[{"ip":"1"}]}' },
  ];

  it('are told with what is likely meant', () => {
    expect(findUnmatched(mapping({ exclude: ['emial', 'plan'], rename: { pIan: 'tier' } }), records)).toEqual(
      [
        'mapping.exclude names "emial", which no sampled record has; did you mean "email"?',
        'mapping.rename names "pIan", which no sampled record has; did you mean "plan"?',
      ],
    );
    expect(findUnmatched(mapping({ exclude: ['props.profile.email'] }), records)).toEqual([
      expect.stringContaining('only where the column is listed under jsonColumns'),
    ]);
  });

  it('are none where a column, a path, a list or a spread field has them', () => {
    const exclude = ['email', 'props', 'props.profile.email', 'profile.email', 'props.visits.ip', 'visits'];
    const declared = { exclude, jsonColumns: ['props'], spreadColumns: ['props'] };
    expect(findUnmatched(mapping(declared), records)).toEqual([]);
    expect(findUnmatched(mapping({ exclude: ['gone'] }), [])).toEqual([]);
  });

  it('are asked for by the plan through the source', () => {
    const block = getSourceType('csv').block.parse({
      type: 'csv',
      from: 'x',
      mapping: { ...base, exclude: ['gone'] },
    });
    expect(getSourceType('csv').bind(block).findUnmatched?.(records)).toHaveLength(1);
  });
});
