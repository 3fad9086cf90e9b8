import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runSql, sql } from '../../../src/server/database/sql.ts';
import {
  MAX_LOOSE_COPIES,
  MAX_PATTERN_CHARACTERS,
  MAX_PATTERN_SIZE,
  toPostgresPattern,
} from '../../../src/server/query/pattern.ts';
import { onBothDatabases } from '../../support/databases.ts';

describe('a pattern is invalid', () => {
  test.each(
    [
      '(',
      ')',
      'a)',
      '(a',
      '[',
      '[a',
      '*',
      '+a',
      'a**',
      'a{2}{3}',
      'a|*',
      '^*',
      '(?:',
      '\\',
      '\\1',
      '\\k<n>',
    ].concat(
      ['a{3,2}', 'a{256}', '[b-a]', '[\\d-z]', '[[:nope:]]', '\\p{L}', '\\x{110000}', '\\x00', '\\ud800'],
      ['(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(?i:a)', 'a(?i)', '(?x)a', '\\Qa\\E', '\\c', '\\0'],
    ),
  )('%s', (pattern) => {
    expect(toPostgresPattern(pattern)).toBeUndefined();
  });

  test('above the limits of length, size, copies and nesting', () => {
    expect(toPostgresPattern('a'.repeat(MAX_PATTERN_CHARACTERS))).toBeDefined();
    expect(toPostgresPattern('a'.repeat(MAX_PATTERN_CHARACTERS + 1))).toBeUndefined();
    expect(toPostgresPattern(`(?:a{100}){${MAX_PATTERN_SIZE / 100}}`)).toBeDefined();
    expect(toPostgresPattern(`(?:a{100}){${MAX_PATTERN_SIZE / 100}}a`)).toBeUndefined();
    expect(toPostgresPattern(`(?:a?b*){${MAX_LOOSE_COPIES / 2}}`)).toBeDefined();
    expect(toPostgresPattern(`(?:a?b*){${MAX_LOOSE_COPIES / 2 + 1}}`)).toBeUndefined();
    expect(toPostgresPattern('(?:(?:a{0,5}){4}){5}')).toBeUndefined(); // 20 and then 100 copies
    expect(toPostgresPattern('.{0,255}')).toBeDefined();
    expect(toPostgresPattern(`${'('.repeat(50)}${')'.repeat(50)}`)).toBeDefined();
    expect(toPostgresPattern(`${'('.repeat(51)}${')'.repeat(51)}`)).toBeUndefined();
  });
});

/** Pieces of patterns, and texts that they may match. */
const PIECE = fc.constantFrom(
  ...[
    'a',
    'b',
    'Z',
    '1',
    '_',
    '-',
    ' ',
    '\n',
    '.',
    '^',
    '$',
    '|',
    '(',
    ')',
    '(?:',
    '(?P<n>',
    '*',
    '+',
    '?',
    '??',
  ],
  ...[
    '{2}',
    '{0,3}',
    '{1,}',
    '{',
    '}',
    ',',
    '[',
    ']',
    '[^',
    '[a-c]',
    '[^b]',
    '[\\d_-]',
    '[]a]',
    '[\\W]',
    '[\\S1]',
  ],
  ...[
    '[[:alpha:]]',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\b',
    '\\B',
    '\\.',
    '\\\\',
    '\\-',
    '\\]',
    '\\n',
    '\\/',
  ],
  ...[
    '\\x41',
    '\\u00e9',
    '\\x{1F600}',
    'é',
    '😀',
    '\\',
    '&',
    '#',
    '~',
    '"',
    "'",
    '`',
    '@',
    '!',
    '%',
    ':',
    '=',
    '<',
  ],
);
const PATTERN = fc.tuple(
  fc.constantFrom('', '', '(?i)', '(?m)', '(?is)'),
  fc.array(PIECE, { maxLength: 12 }),
);
const TEXT = fc.string({ unit: fc.constantFrom(...'abcAZ1_- \n.^$|()*[]{}é😀\\&"\''), maxLength: 12 });

/** The same search in JavaScript, which reads the same syntax but for a few words. */
function search(flags: string, pattern: string, text: string): boolean | undefined {
  const source = pattern
    .replaceAll('[[:alpha:]]', '[A-Za-z]')
    .replaceAll('(?P<n>', '(?:')
    .replaceAll('\\x{1F600}', '\\u{1F600}');
  const mode = `u${flags.includes('i') ? 'i' : ''}${flags.includes('m') ? 'm' : ''}s`;
  try {
    return new RegExp(source, mode).test(text);
  } catch {
    return undefined;
  }
}

onBothDatabases('a pattern', (db) => {
  const matches = async (pattern: string, texts: readonly string[]) => {
    const rows = await runSql<{ text: string }>(
      db(),
      sql`select text from unnest(${texts}::text[]) with ordinality as t (text, position)
        where text ~ ${toPostgresPattern(pattern) ?? 'INVALID'}::text order by position`,
    );
    return rows.map(({ text }) => text);
  };

  test.each<[pattern: string, texts: string[], matching: string[]]>([
    ['a.c', ['abc', 'a\nc', 'ac'], ['abc', 'a\nc']],
    ['^b', ['b', 'a\nb'], ['b']],
    ['(?m)^b$', ['b', 'a\nb\nc', 'ab'], ['b', 'a\nb\nc']],
    ['a$', ['a', 'a\n'], ['a']],
    ['(?i)äB', ['ÄB', 'xäb'], ['xäb', 'ÄB']],
    ['\\bcat\\b', ['a cat sat', 'concat'], ['a cat sat']],
    ['^\\w+\\z', ['a_1', 'a-1'], ['a_1']],
    ['\\d', ['3', '٣'], ['3']],
    ['[\\s\\S]', ['', '\n'], ['\n']],
    ['^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$', ['ada@example.com', 'ada@example'], ['ada@example.com']],
    ['a{', ['a{'], ['a{']],
    ['a{,2}', ['a{,2}', 'aa'], ['a{,2}']],
    ['***=a', [], []],
    ['(?P<year>\\d{4})', ['in 2024'], ['in 2024']],
    ['', ['', 'x'], ['', 'x']],
    ['a||b', ['', 'x'], ['', 'x']],
    ['()', ['x'], ['x']],
    ['\\x41\\u00e9\\x{1F600}', ['Aé😀'], ['Aé😀']],
    ['[^a]', ['a', '\n'], ['\n']],
    ['[]a-]', [']', '-', 'b'], [']', '-']],
  ])('%s among %j finds %j', async (pattern, texts, matching) => {
    expect((await matches(pattern, texts)).sort()).toEqual([...matching].sort());
  });

  test('that was translated is valid for Postgres and finds what JavaScript finds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(PATTERN, TEXT), { minLength: 1, maxLength: 30 }), async (given) => {
        const cases = given.flatMap(([[flags, pieces], text]) => {
          const source = pieces.join('');
          const pattern = toPostgresPattern(flags + source);
          // Whether é is part of a word depends on the locale of the server.
          const isClear = !/\\b/i.test(source) || /^\p{ASCII}*$/u.test(text);
          // A bracket that comes first in a class is one of its characters; for JavaScript the class is empty.
          const hasEmptyClass = /\[\^?\]/.test(source);
          return pattern !== undefined && isClear && !hasEmptyClass ? [{ flags, source, pattern, text }] : [];
        });
        const rows = await runSql<{ found: boolean }>(
          db(),
          sql`select t.text ~ t.pattern as found
            from unnest(${cases.map(({ pattern }) => pattern)}::text[], ${cases.map(({ text }) => text)}::text[])
              with ordinality as t (pattern, text, position) order by position`,
        );
        cases.forEach(({ flags, source, text }, index) => {
          const expected = search(flags, source, text);
          // JavaScript is stricter with lone brackets and braces: there, valid for Postgres is what counts.
          if (expected === undefined) return;
          expect({ flags, source, text, found: rows[index]?.found }).toEqual({
            flags,
            source,
            text,
            found: expected,
          });
        });
      }),
    );
  });
});
