import { describe, expect, it } from 'vitest';
import { amplitudeOptions } from '../../src/sources/amplitude/options.ts';
import { csvOptions } from '../../src/sources/csv/index.ts';
import { jsonlOptions } from '../../src/sources/jsonl/index.ts';
import { callOptions } from '../../src/sources/segment-spec/options.ts';

const mapping = {
  event: { column: 'action' },
  distinctId: { column: 'user' },
  timestamp: { column: 'at' },
};
const csvWith = (format: string) =>
  csvOptions.safeParse({ mapping: { ...mapping, timestamp: { column: 'at', format } } });

describe('options of a source', () => {
  it('have a default wherever the manifest may be silent', () => {
    expect(amplitudeOptions.parse({})).toEqual({
      dropEvents: [],
      dropIp: false,
      keepSessionMarkers: false,
      elementEvents: 'keep',
      userPropertiesOnEvents: false,
    });
    expect(callOptions.parse({})).toEqual({ dropEvents: [], dropIp: false });
    expect(csvOptions.parse({ mapping }).mapping).toMatchObject({
      timestamp: { format: 'iso' },
      nullValues: ['', '\\N'],
      person: {},
      groups: [],
    });
    expect(jsonlOptions.parse({ mapping }).mapping.nullValues).toEqual([]);
  });

  it('refuse what they do not know', () => {
    expect(amplitudeOptions.safeParse({ dropEvent: [] }).success).toBe(false);
    expect(csvOptions.safeParse({ mapping: { ...mapping, distinct_id: 'x' } }).success).toBe(false);
  });

  it.each([
    'epoch_s',
    'epoch_ns',
    'yyyy-MM-dd',
    'dd.MM.yy HH:mm',
    "yyyy-MM-dd'T'HH:mm:ss.SSSZZ",
    'M/d/yyyy h:mm a',
  ])('take the time format %s', (format) => {
    expect(csvWith(format).success).toBe(true);
  });

  it.each(['HH:mm', 'MM-dd HH:mm', 'yyyy-MM', ''])(
    'refuse the time format %j, which would be completed from the clock',
    (format) => {
      expect(csvWith(format).error?.issues[0]?.message).toMatch(/does not fix year, month and day/);
    },
  );

  it.each(['YYYY-MM-DD HH:mm:ss', 'yyyy-MM-ddTHH:mm', 'DD', 'X', 'epoch', 'auto', 'jj'])(
    'refuse the time format %j, whose letters mean something else or nothing',
    (format) => {
      expect(csvWith(format).error?.issues[0]?.message).toMatch(/is no token here; write yyyy/);
    },
  );

  it('refuse a twelve-hour clock without AM or PM', () => {
    expect(csvWith('yyyy-MM-dd hh:mm').error?.issues[0]?.message).toMatch(/AM\/PM/);
  });

  it('explain every field to the reader of the manifest', () => {
    const schemas = [amplitudeOptions, callOptions, jsonlOptions, csvOptions];
    for (const { shape } of [...schemas, csvOptions.shape.mapping]) {
      for (const [name, field] of Object.entries(shape)) expect(field.description, name).toBeTruthy();
    }
  });
});
