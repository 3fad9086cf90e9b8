import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Question, toQuestionKey } from '../../../../src/server/flags/decide/question.ts';

const question = (more: Partial<Question> = {}): Question => ({
  bytes: Buffer.from('{"distinct_id":"ada"}'),
  contentType: 'application/json',
  contentEncoding: '',
  compression: undefined,
  data: undefined,
  version: 3,
  address: undefined,
  ...more,
});

test('only the same question has the same key', () => {
  const questions = [
    question(),
    question({ bytes: Buffer.from('{"distinct_id":"bob"}') }),
    question({ bytes: Buffer.from([0xff]) }),
    question({ bytes: Buffer.from([0xfe]) }),
    question({ contentType: 'text/plain' }),
    question({ contentEncoding: 'gzip' }),
    question({ compression: 'base64' }),
    question({ version: 4 }),
    question({ address: '192.0.2.1' }),
  ];
  const keys = questions.map(toQuestionKey);
  expect(new Set(keys).size).toBe(questions.length);
  expect(keys).not.toContain(undefined);
  expect(toQuestionKey(question())).toBe(keys[0]);
});

test('what could pass for another question has none, nor what is long or empty', () => {
  expect(toQuestionKey(question({ compression: '\n\n{"distinct_id":"ada"}' }))).toBeUndefined();
  expect(toQuestionKey(question({ bytes: Buffer.alloc(0), data: '{}' }))).toBeUndefined();
  expect(toQuestionKey(question({ bytes: gzipSync(''), data: '{}' }))).toBeUndefined();
  expect(toQuestionKey(question({ bytes: Buffer.alloc(4096) }))).toBeDefined();
  expect(toQuestionKey(question({ bytes: Buffer.alloc(4097) }))).toBeUndefined();
});
