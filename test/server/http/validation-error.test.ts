import { z } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { booleanField, integerField, objectField, textField } from '../../../src/server/http/fields.ts';
import { validationError } from '../../../src/server/http/validation-error.ts';

const schema = z.object({
  name: textField(5).optional(),
  title: textField(400).pipe(z.string().min(1)).optional(),
  pinned: booleanField().optional(),
  level: integerField().optional(),
  tags: z.array(textField(10)).max(2).optional(),
  kind: z.union([z.literal(21), z.literal(37)]).optional(),
  choice: z.enum(['a', 'b']).optional(),
  uuid: z.uuid().optional(),
  filters: objectField('Filters must be a dictionary').optional(),
  tiles: z.array(z.object({ layouts: z.object({ w: z.number() }) })).optional(),
  who: z.object({ id: integerField() }).optional(),
});

const renderEnvelope = (input: unknown) => {
  const result = schema.safeParse(input);
  return result.success ? undefined : validationError(result.error, input).envelope;
};

test.each([
  [{ name: null }, 'null', 'This field may not be null.', 'name'],
  [{ name: 'sixsix' }, 'max_length', 'Ensure this field has no more than 5 characters.', 'name'],
  [{ name: ['x'] }, 'invalid_input', 'Not a valid string.', 'name'],
  [{ title: '' }, 'blank', 'This field may not be blank.', 'title'],
  [{ pinned: 'maybe' }, 'invalid_input', 'Must be a valid boolean.', 'pinned'],
  [{ level: 'x' }, 'invalid_input', 'A valid integer is required.', 'level'],
  [{ level: 1.5 }, 'invalid_input', 'A valid integer is required.', 'level'],
  [{ level: 2 ** 31 }, 'max_value', 'Ensure this value is less than or equal to 2147483647.', 'level'],
  [{ tags: 'x' }, 'invalid_input', 'Expected a list of items but got type "str".', 'tags'],
  [{ tags: ['a', 'b', 'c'] }, 'max_length', 'Ensure this field has no more than 2 elements.', 'tags'],
  [{ tags: [7.5, null] }, 'null', 'This field may not be null.', 'tags__1'],
  [{ choice: 'c' }, 'invalid_choice', '"c" is not a valid choice.', 'choice'],
  [{ uuid: 'x' }, 'invalid_input', 'Must be a valid UUID.', 'uuid'],
  [{ filters: [] }, 'invalid_input', 'Filters must be a dictionary', 'filters'],
  [
    { tiles: [{ layouts: [] }] },
    'invalid_input',
    'Invalid data. Expected a dictionary, but got list.',
    'tiles__0__layouts',
  ],
  [{ who: {} }, 'required', 'This field is required.', 'who__id'],
  [[], 'invalid_input', 'Invalid data. Expected a dictionary, but got list.', null],
])('%j is refused as %s', (input, code, detail, attr) => {
  expect(renderEnvelope(input)).toEqual({ type: 'validation_error', code, detail, attr });
});

test('fields of forms are text and count as what they say', () => {
  expect(schema.parse({ name: 7, pinned: 'on', level: ' 42 ' })).toEqual({
    name: '7',
    pinned: true,
    level: 42,
  });
  expect(schema.parse({ pinned: '0' })).toEqual({ pinned: false });
});
