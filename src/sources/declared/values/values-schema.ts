import { z } from 'zod';

const path = z.string().min(1);

const SIMPLE_TYPES = [
  'text',
  'number',
  'boolean',
  'json',
  'epoch_s',
  'epoch_ms',
  'epoch_us',
  'epoch_ns',
] as const;

const TYPE =
  'takes text, number, boolean, json, epoch_s, epoch_ms, epoch_us, epoch_ns, or { number: { decimal: ",", group: "." } }';
const numberForm = z.strictObject({
  number: z
    .strictObject({
      decimal: z.enum(['.', ',']).default('.').describe('What stands before the fraction.'),
      group: z
        .enum(['.', ',', "'", ' '])
        .exactOptional()
        .describe('What stands between groups of three digits. Default: nothing may.'),
    })
    .refine(({ decimal, group }) => decimal !== group, 'takes two different characters')
    .describe('Which characters the numbers are written with: 1.234 is two numbers.'),
});
const columnType = z.union([z.enum(SIMPLE_TYPES), numberForm], { error: TYPE });
export type ColumnType = z.infer<typeof columnType>;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'takes a text, a number, true, false or null',
});

/** A secret is named, never written: the manifest can then be stored and shown as it is (I10). */
const secretReference = z
  .string()
  .regex(
    /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/,
    'names the variable that holds the key, as ${BACKHAUL_HASH_KEY}; the key itself stays out of the manifest',
  );

/** What is done to the values of columns before anything is read from them. Absent keys change nothing. */
export const valueRules = {
  hash: z
    .strictObject({
      columns: z
        .array(path)
        .min(1)
        .describe(
          'Columns and paths (`user.email`) to hash, also inside lists, and fields of `spreadColumns`.',
        ),
      key: secretReference.describe(
        'Variable that holds the key of at least 16 characters, as ${BACKHAUL_HASH_KEY}; NAME_FILE may name a file instead.',
      ),
    })
    .exactOptional()
    .describe(
      'Personal data that must not arrive: each value becomes its HMAC-SHA-256 in hexadecimal, before anything else is done. One value has one hash everywhere, so ids still join; plans and pages of migrations show it nowhere, and only parts and rejects in staging keep the records as they were exported. What means "no value" or nobody stays as it is, and what is no id, such as true or an object, is none as a hash either.',
    ),
  values: z
    .record(path, z.record(z.string(), scalar))
    .exactOptional()
    .describe(
      'What values of a column, or of a field of `spreadColumns`, mean: `{ plan: { "1": free, "2": pro, "n/a": null } }`; null is no value. Others stay what they are. A value that is found here is given no type.',
    ),
  types: z
    .record(path, columnType)
    .exactOptional()
    .describe(
      'Types of columns and paths, also inside lists, and of fields of `spreadColumns`. epoch_… becomes an ISO time. A value that is none of its type makes the record a reject (bad_field).',
    ),
  unnest: z
    .strictObject({ column: path.describe('Holds the list, or its JSON text; a path reaches into objects.') })
    .exactOptional()
    .describe(
      'Makes an event of each item of a list. For the rest of the mapping the item takes the place of the list, so `items.sku` is a column. Ids follow from those of the record and the place of the item.',
    ),
  constants: z
    .record(path, scalar)
    .exactOptional()
    .describe('Properties that every event gets, whatever the record says.'),
};
