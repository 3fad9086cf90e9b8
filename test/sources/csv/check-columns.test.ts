import { describe, expect, it } from 'vitest';
import { createCheckColumns } from '../../../src/sources/csv/check-columns.ts';
import { csvOptions } from '../../../src/sources/csv/index.ts';

const check = (names: readonly string[], more: object = {}, delimiter = ',') => {
  const { mapping } = csvOptions.parse({
    mapping: {
      event: { column: 'action' },
      distinctId: { column: ['customer', 'device'] },
      timestamp: { column: 'at' },
      ...more,
    },
  });
  return createCheckColumns(mapping, delimiter)(names);
};

describe('a header', () => {
  it('will do with one column of each list, and without any that is optional', () => {
    const optional = {
      anonymousId: { column: 'cookie' },
      uuid: { column: 'uuid' },
      person: { set: { columns: ['plan'] } },
      groups: [{ type: 'company', column: 'company' }],
      jsonColumns: ['extra'],
    };
    expect(check(['at', 'device', 'action'], optional)).toBeUndefined();
    expect(check(['at', 'customer'], { event: { constant: 'Paid' } })).toBeUndefined();
  });

  it('will do with the column of the JSON that a path leads into, and with no other', () => {
    const nested = {
      event: { column: 'items.action' },
      distinctId: { column: ['details.customer'] },
      key: ['items.id'],
      unnest: { column: 'items' },
      jsonColumns: ['details'],
    };
    expect(check(['at', 'items', 'details'], nested)).toBeUndefined();
    expect(check(['at', 'items'], nested)).toContain(
      'has no column "details.customer", which mapping.distinctId names',
    );
    expect(check(['at', 'details'], nested)).toContain(
      'has no column "items.action", which mapping.event names, and has no column "items.id"',
    );
    expect(check(['at', 'cart', 'customer'], { event: { column: 'cart.action' } })).toContain(
      'has no column "cart.action", which mapping.event names',
    );
  });

  it('is shown without what would steer a terminal', () => {
    const [clear, bell, nul] = ['\u001b[2J', '\u0007', '\u0000'];
    const lacking = check(['id', `us${clear}er${bell}`, `${nul}at`]);
    expect(lacking).toContain('It has "id", "us\\u001b[2Jer\\u0007", "\\u0000at".');
    const alone = check([`at${nul}`]);
    expect(alone).toContain('one lone column, "at\\u0000"');
    expect(`${lacking}${alone}`).not.toMatch(/\p{Cc}/u);
  });

  it('is refused with the column that it lacks, the setting, and the nearest name', () => {
    expect(check(['action', 'costumer', 'at'])).toBe(
      'has no column "customer" or "device", which mapping.distinctId names; did you mean "costumer"? ' +
        'It has "action", "costumer", "at". Correct the mapping, or take a file that is no part of this export out of source.from',
    );
    expect(check(['action', 'device', 'when'])).toContain(
      'has no column "at", which mapping.timestamp names. It',
    );
    expect(check(['at', 'device'])).toContain('"action", which mapping.event names');
    expect(check(['at', 'device', 'action', 'order'], { key: ['order', 'line'] })).toContain(
      'has no column "line", which mapping.key names',
    );
  });

  it('of one lone column is asked for its delimiter', () => {
    expect(check(['action,customer,at'], {}, ';')).toContain(
      'It is one lone column, "action,customer,at": is source.delimiter, ";", right? It looks divided by ",".',
    );
    expect(check(['action\tcustomer\tat'])).toContain(
      'is source.delimiter, ",", right? It looks divided by tab.',
    );
    expect(check(['nothing'], {}, '\t')).toMatch(/is source.delimiter, tab, right\?$/);
  });

  it('behind a line for Excel is not reached', () => {
    const remove = ', a line for Excel: remove it, so that the header row is the first one';
    expect(check(['sep=', 'column_2'], {}, ';')).toContain(`It is "sep="${remove}`);
    expect(check(['sep=;'])).toContain(`It is "sep=;"${remove}`);
  });

  it('is shown in bounds', () => {
    const problem = check(Array.from({ length: 5_000 }, (_, index) => `${'x'.repeat(200)}${index}`)) ?? '';
    expect(problem).toContain('and 4988 more');
    expect(problem.length).toBeLessThan(1_500);
  });
});
