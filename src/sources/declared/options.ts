import { z } from 'zod';
import { findDateFormatProblem } from '../mapping/date-format.ts';
import { valueRules } from './values/values-schema.ts';

const column = z.string().min(1);

const columnOrColumns = z
  .union([column, z.array(column).min(1)])
  .describe(
    'Name of a column (CSV) or field (JSON; `user.id` reaches into nested objects). Of a list, the first that holds a value counts.',
  );

const propertyColumns = z
  .strictObject({
    columns: z.array(column).default([]).describe('Columns to take, under their own names.'),
    prefix: z
      .string()
      .min(1)
      .optional()
      .describe('Takes every column whose name starts with this; the property is named by the rest.'),
  })
  .describe('Which columns hold the properties. They no longer appear on the event itself.');
export type PropertyColumns = z.infer<typeof propertyColumns>;

/** Epoch units are declared, never guessed from the size of a number. */
const EPOCH_FORMATS = ['epoch_s', 'epoch_ms', 'epoch_us', 'epoch_ns'] as const;

const timestampFormat = z
  .string()
  .default('iso')
  .superRefine((format, context) => {
    if (format === 'iso' || (EPOCH_FORMATS as readonly string[]).includes(format)) return;
    const problem = findDateFormatProblem(format);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .describe(
    '`iso` (2023-05-01T12:00:00Z, 2023-05-01 12:00:00.123, with or without an offset), `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`, or a pattern of Luxon tokens such as `dd/MM/yyyy HH:mm:ss`. Nothing is guessed: a value that does not fit is a reject.',
  );

/** How a record of no vendor in particular becomes an event. `nullValues`: the default of that key. */
export const createMappingSchema = (nullValues: readonly string[]) =>
  createMappingObject(nullValues).superRefine(({ hash, values = {}, types = {} }, context) => {
    for (const [index, column] of (hash?.columns ?? []).entries()) {
      const rule = [values, types].find((rules) => Object.hasOwn(rules, column));
      if (!rule) continue;
      const message = `"${column}" is hashed, so mapping.${rule === values ? 'values' : 'types'} would find nothing but hashes; name it in one of them`;
      context.addIssue({ code: 'custom', path: ['hash', 'columns', index], message });
    }
  });

const createMappingObject = (nullValues: readonly string[]) =>
  z.strictObject({
    event: z
      .union([
        z.strictObject({ column: columnOrColumns }),
        z.strictObject({ constant: z.string().min(1).max(200).describe('One event name for all records.') }),
      ])
      .describe('Where the event name comes from: `{ column: action }` or `{ constant: Signed up }`.'),
    eventPrefix: z.string().default('').describe('Prefix of event names taken from a column.'),
    distinctId: z
      .strictObject({ column: columnOrColumns })
      .describe(
        'Who did it: `{ column: user_id }`, or `{ column: [user_id, device_id] }` for the first that is there. The first column names known persons, whom anonymous ids are merged into. An id of a later column is merged with nobody; unless that column is also one of `anonymousId`, it is taken for a person, and a device that was seen with it is merged into nobody else.',
      ),
    anonymousId: z
      .strictObject({ column: columnOrColumns })
      .optional()
      .describe(
        'Id of the same person before they were known. Where a record has both, the two become one person once the import is done.',
      ),
    timestamp: z
      .strictObject({ column: columnOrColumns, format: timestampFormat })
      .describe('When it happened. Values without an offset are read in the `timezone` of the source.'),
    uuid: z
      .strictObject({ column: columnOrColumns })
      .optional()
      .describe(
        'Holds a UUID of the event itself, not of a thing that several events are about. Records whose value is no UUID fall back on `key`.',
      ),
    key: z
      .array(column)
      .min(1)
      .optional()
      .describe(
        'Columns that together name one event for ever, for example [order_id, line]. Records with the same event name and key are one event. Default: records count as one event when they are alike in every column.',
      ),
    person: z
      .strictObject({
        set: propertyColumns.optional().describe('Person properties whose latest value counts.'),
        setOnce: propertyColumns.optional().describe('Person properties whose earliest value counts.'),
      })
      .prefault({})
      .describe('Columns that describe the person rather than the event.'),
    groups: z
      .array(
        z.strictObject({
          type: z.string().min(1).describe('Group type at the destination, for example `company`.'),
          column: columnOrColumns.describe(
            'Holds the key of the group. One of more than 200 characters makes the record a reject (id_too_long).',
          ),
          set: propertyColumns.optional().describe('Properties of the group; the latest value counts.'),
        }),
      )
      .max(5)
      .default([])
      .describe('Groups the event belongs to. The destination takes five group types a project.'),
    jsonColumns: z
      .array(column)
      .default([])
      .describe(
        'Columns whose text is JSON: objects, lists, but also numbers and booleans, which are text in a CSV otherwise. `details.user` leads into the text of `details` wherever a path is taken. Text that is not JSON makes the record a reject (bad_field).',
      ),
    spreadColumns: z
      .array(column)
      .default([])
      .describe(
        'Columns holding an object (see `jsonColumns`) whose fields become event properties themselves. A field that is called as a column of the record is kept as `source_<name>`. A path into a list, such as `items.meta` of a list of items, names no single object: what it names there is left out, unless `unnest` makes an event of each item.',
      ),
    rename: z
      .record(column, z.string().min(1))
      .default({})
      .describe(
        'Property names by column name, for example `{ page_url: $current_url }`. Names fields of `spreadColumns` too; `user.plan` takes a nested field out of its object. Where a record has another value of the new name as well, that one is kept as `source_<name>`.',
      ),
    exclude: z
      .array(column)
      .default([])
      .describe(
        'Columns to leave behind: properties of the event, the person and groups alike, and fields of `spreadColumns`. `user.email` leaves out a nested field, also inside lists. Columns that event, person, time, key and groups are read from are still read.',
      ),
    ...valueRules,
    nullValues: z
      .array(z.string())
      .default([...nullValues])
      .describe('Texts that mean "no value"; such a column is treated as if the record had none.'),
  });
export type DeclaredMapping = z.infer<ReturnType<typeof createMappingSchema>>;

export interface DeclaredOptions {
  readonly dropEvents: readonly string[];
  readonly mapping: DeclaredMapping;
}
