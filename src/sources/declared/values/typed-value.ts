import { parseJson } from '../../../lib/json/parse-json.ts';
import { readText } from '../../mapping/identity.ts';
import { createReadTime } from '../../mapping/timestamp.ts';
import { NOT_JSON, openJsonText, parseJsonCell } from '../json-cell.ts';
import type { ColumnType } from './values-schema.ts';

/** A value of a type that it cannot have. */
export const BAD = Symbol('bad value');

export interface TypedValue {
  /** What a bad value is not, for messages: `a boolean`, `JSON`. */
  readonly noun: string;
  readonly read: (value: unknown) => unknown;
}

export function createTypedValue(type: ColumnType): TypedValue {
  if (typeof type === 'object') return createNumber(type.number);
  switch (type) {
    case 'text':
      return { noun: 'text', read: (value) => readScalar(value) ?? BAD };
    case 'number':
      return createNumber({ decimal: '.' });
    case 'boolean':
      return { noun: 'a boolean', read: readBoolean };
    case 'json':
      return { noun: 'JSON', read: readJson };
    default: {
      const readTime = createReadTime(type, 'UTC');
      return { noun: `a time of ${type} between 1970 and 2100`, read: (value) => readTime(value) ?? BAD };
    }
  }
}

const readScalar = (value: unknown) => (typeof value === 'boolean' ? String(value) : readText(value));

function readJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const parsed = parseJsonCell(value);
  return parsed === NOT_JSON ? BAD : parsed;
}

/** Text that is read because paths lead into it. Where nothing is in it, it stays what will be read once more later. */
export const JSON_ABOVE: TypedValue = {
  noun: 'JSON',
  read(value) {
    const read = readJson(value);
    return typeof value === 'string' && typeof read === 'string' ? (openJsonText(read) ?? value) : read;
  },
};

const TRUE = new Set(['true', 't', 'yes', 'y', 'on', '1']);
const FALSE = new Set(['false', 'f', 'no', 'n', 'off', '0']);

function readBoolean(value: unknown): unknown {
  if (typeof value === 'boolean') return value;
  const text = readText(value)?.trim().toLowerCase();
  if (text === undefined) return BAD;
  return TRUE.has(text) || (FALSE.has(text) ? false : BAD);
}

/** `decimal` and `group` are declared, as 1.234 is two numbers. Digits beyond those of a double are kept. */
function createNumber({
  decimal,
  group,
}: {
  readonly decimal: '.' | ',';
  readonly group?: '.' | ',' | "'" | ' ';
}): TypedValue {
  const noun = `a number with ${decimal === ',' ? 'a decimal comma' : 'a decimal point'}${group === undefined ? '' : ` and groups of three by ${JSON.stringify(group)}`}`;
  const separators = group === ' ' ? '[ \\u00a0\\u202f]' : group === undefined ? '' : `[${group}]`;
  const whole = group === undefined ? '\\d+' : `\\d{1,3}(?:${separators}\\d{3})+|\\d+`;
  const form = new RegExp(`^([+-]?)(${whole})?(?:[${decimal}](\\d*))?(?:[eE]([+-]?\\d{1,3}))?$`);
  const separator = new RegExp(separators || '(?!)', 'g');
  return {
    noun,
    read(value) {
      if (typeof value !== 'string')
        return typeof value === 'boolean' || readText(value) === undefined ? BAD : value;
      const match = form.exec(value.trim());
      if (!match) return BAD;
      const [, sign = '', digits = '', fraction = '', exponent] = match;
      if (digits === '' && fraction === '') return BAD;
      const plain = digits.replace(separator, '').replace(/^0+(?=\d)/, '') || '0';
      const text = `${sign === '-' ? '-' : ''}${plain}${fraction === '' ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`;
      try {
        const number = parseJson(text);
        return Number.isFinite(Number(text)) ? number : BAD;
      } catch {
        return BAD;
      }
    },
  };
}
