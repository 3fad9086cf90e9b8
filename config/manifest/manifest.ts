import { z } from 'zod';
import { isOtherEvent, isPersonEvent } from '../../src/sources/mapping/event-name.ts';
import { SOURCE_TYPES, type SourceTypes } from '../../src/sources/registry.ts';
import { parsePercentage } from '../units.ts';
import { byteSize, secretReference, serviceAddress, shareOrCount, whole } from './manifest-fields.ts';
import { scheduleBlock } from './schedule.ts';
import { toTimeWindow, windowBlock } from './window.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Above these the contract asks for an approval first (its limits, rule 1). */
export const CONTRACT_LIMITS = { eventsPerMinute: 10_000, totalEvents: 20_000_000 } as const;
const DEFAULT_BATCH_EVENTS = 1_000;

const acceptance = z
  .strictObject({
    status: whole(200, 299)
      .exactOptional()
      .describe('HTTP status of the answer. Without fields it counts only with an empty body.'),
    fields: z
      .record(z.string().min(1), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .refine((fields) => Object.keys(fields).length > 0, 'takes at least one field')
      .exactOptional()
      .describe('Top-level fields that the JSON of the answer holds, with these values.'),
  })
  .refine(
    ({ status, fields }) => status !== undefined || fields !== undefined,
    'takes status, fields or both',
  );

const destination = z.strictObject({
  url: serviceAddress.describe('Address of the service: the part before /batch/.'),
  apiKey: secretReference.describe(
    'Variable that holds the project key, as ${BACKHAUL_PROJECT_API_KEY}; NAME_FILE may name a file instead.',
  ),
  acceptance: acceptance
    .exactOptional()
    .describe(
      'An answer that means that the events were taken, where the destination gives another than {"status":1} or {"status":"Ok"}.',
    ),
  project: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe(
      'Name of the project, any text: what was sent about persons is then remembered under it, whatever its key is. Default: under a fingerprint of the key.',
    ),
  service: z
    .string()
    .regex(/^[^\s/]{1,255}$/, 'takes a host name as in an address, such as eu.example.com')
    .exactOptional()
    .describe(
      'Host name under which the project is known, where its service has several: migrations with one service and one project share what is remembered of persons. Default: the host of url.',
    ),
});

const limits = z.strictObject({
  eventsPerMinute: whole(1, 100_000_000)
    .exactOptional()
    .describe(
      'Most events in any 60 seconds, over all workers. Default: 10000 for an explicit destination, none for the bundled API.',
    ),
  requestsInFlight: whole(1, 64).default(4).describe('Requests that one worker has open at once.'),
  batch: z
    .strictObject({
      events: whole(1, 10_000)
        .exactOptional()
        .describe('Most events of one request. Default: 1000, or eventsPerMinute where that is less.'),
      bytes: byteSize(64 * KIB, 9 * MIB, '64KiB to 9MiB')
        .default(5 * MIB)
        .describe('Most bytes of one request before compression, such as 5MiB.'),
    })
    .prefault({})
    .describe('How large a request may become.'),
});

const STAMP_NAME = 'takes the name of a property, of up to 100 characters, or false for none';
const stampName = (name: string, what: string) =>
  z
    .union([z.literal(false), z.string().min(1, STAMP_NAME).max(100, STAMP_NAME)], { error: STAMP_NAME })
    .refine((value) => value === false || !RESERVED_STAMPS.has(value), {
      error: 'is a name that the destination gives a meaning of its own; take another',
    })
    .default(name)
    .describe(`${what}; false: none.`);
/** A stamp comes behind the properties of the event, and would take the place of these. */
const RESERVED_STAMPS = new Set([
  'distinct_id',
  '$set',
  '$set_once',
  '$unset',
  '$groups',
  'token',
  'sent_at',
  'offset',
  '_',
  '$anon_distinct_id',
  '$session_id',
  '$geoip_disable',
  '$group_type',
  '$group_key',
  '$group_set',
  '__proto__',
]);

const approval = z.strictObject({
  reference: z.string().min(1).describe('What the service calls the approved request, for the record.'),
  eventsPerMinute: whole(1, 100_000_000).exactOptional().describe('Approved speed, where it is above 10000.'),
  totalEvents: whole(1, 1_000_000_000_000)
    .exactOptional()
    .describe('Approved volume, where it is above 20 million.'),
});

const createManifestObject = (types: SourceTypes) =>
  z.strictObject({
    $schema: z.string().exactOptional().describe('For editors: address of the JSON Schema of manifests.'),
    name: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_.-]{0,62}$/,
        'takes up to 63 of a-z, 0-9, "-", "_" and ".", and starts with a letter or digit',
      )
      .describe('Identifies the migration: running it again under this name continues it.'),
    source: createSourceUnion(types).describe('The export to move.'),
    window: windowBlock
      .exactOptional()
      .describe(
        'Only events of this time are imported, by their own time: history ends where live tracking began. Records outside are counted as skipped (before_window, after_window), and nothing that they say about persons is sent; a device that others used in them is merged into nobody.',
      ),
    stamps: z
      .strictObject({
        importId: stampName('$import_job_id', 'Property with the name of the migration'),
        source: stampName('analytics_source', 'Property with the type of the source'),
      })
      .prefault({})
      .refine(({ importId, source }) => importId === false || importId !== source, {
        path: ['source'],
        message: 'takes another name than stamps.importId',
      })
      .describe(
        'Properties that every imported event carries, so that it can be found. Each may be false: none.',
      ),
    destination: destination
      .exactOptional()
      .describe('Where the events go. Default: the bundled API, started for the run.'),
    limits: limits.prefault({}).describe('How fast, and in what bites.'),
    approval: approval
      .exactOptional()
      .describe(
        'Needed for more than 20 million events or more than 10000 events a minute at an explicit destination.',
      ),
    rejects: z
      .strictObject({
        failAbove: shareOrCount
          .default('1%')
          .describe(
            'More rejected records than this make the run end with exit code 3 and hold what it knows of persons, as `persons: hold` does: a share such as 1%, or a number.',
          ),
      })
      .prefault({})
      .describe('How many rejects are too many.'),
    people: z
      .strictObject({
        overwrite: z
          .boolean()
          .default(false)
          .describe(
            'Let folded person properties replace live ones ($set). By default they only fill gaps ($set_once).',
          ),
        groupIdentifyEvent: z
          .string()
          .min(1)
          .max(200)
          .refine((name) => name.trim() !== '', 'is blank; an event needs a name')
          .refine((name) => !isPersonEvent(name), {
            error: ({ input }) =>
              `"${String(input)}" changes persons at the destination, and carries nothing about groups; it takes $group_identify, or what the service calls it, such as $groupidentify`,
          })
          .refine((name) => !isOtherEvent(name), {
            error: ({ input }) =>
              `"${String(input)}" means something else to the destination, which would count it as such or drop it; it takes $group_identify, or what the service calls it, such as $groupidentify`,
          })
          .default('$group_identify')
          .describe(
            'Event name that carries group properties; some services expect $groupidentify. What was sent under another name counts as not sent, but no older value is sent after it.',
          ),
        sharedDevices: z
          .enum(['none', 'first', 'last'])
          .exactOptional()
          .describe(
            "Whose an anonymous id is that was seen with several users: nobody's (none), that of the user who was seen with it first, or of the one who came to it last. Default: none, because a merge cannot be undone. One value for all migrations to a project.",
          ),
      })
      .prefault({})
      .describe('How persons and groups are made from the history.'),
    persons: z
      .enum(['send', 'hold'])
      .default('send')
      .describe(
        'hold: keep what this export says about persons until "backhaul persons send" sends it, together with all others that are held. For an export that is split over several migrations.',
      ),
    schedule: scheduleBlock
      .exactOptional()
      .describe(
        'When what is new in the source is taken in again and again, by "backhaul serve" or any worker. Set by a run, or by "backhaul schedule set".',
      ),
  });

/**
 * Every setting of one migration. Reading a manifest that was read before changes nothing, so the
 * same schema reads what is written by hand and what staging keeps.
 */
export const createManifestSchema = (types: SourceTypes = SOURCE_TYPES) =>
  createManifestObject(types).transform(({ $schema: _, ...manifest }, context) => {
    const eventsPerMinute =
      manifest.limits.eventsPerMinute ?? (manifest.destination ? CONTRACT_LIMITS.eventsPerMinute : undefined);
    const { events = Math.min(DEFAULT_BATCH_EVENTS, eventsPerMinute ?? DEFAULT_BATCH_EVENTS), bytes } =
      manifest.limits.batch;
    if (eventsPerMinute !== undefined && events > eventsPerMinute) {
      context.addIssue({
        code: 'custom',
        path: ['limits', 'batch', 'events'],
        message: `is more than limits.eventsPerMinute (${eventsPerMinute}) lets through; lower it`,
      });
    }
    const { from, until } = toTimeWindow(manifest) ?? {};
    if (from !== undefined && until !== undefined && from >= until) {
      context.addIssue({
        code: 'custom',
        path: ['window', 'until'],
        message: `is ${until}, which is not after window.from (${from}); no event would be imported`,
      });
    }
    const { requestsInFlight } = manifest.limits;
    return {
      ...manifest,
      limits: {
        ...(eventsPerMinute === undefined ? {} : { eventsPerMinute }),
        requestsInFlight,
        batch: { events, bytes },
      },
    };
  });

export const manifestSchema = createManifestSchema();

/** One branch a source type, distinguished by `type`. */
function createSourceUnion(types: SourceTypes) {
  const [first, ...rest] = types.map(({ block }) => block);
  if (!first) throw new Error('a manifest needs at least one type of source');
  return z.discriminatedUnion('type', [first, ...rest]);
}

export type Manifest = z.output<typeof manifestSchema>;

/** Whether more records were rejected than `rejects.failAbove` allows. */
export function tooManyRejects(
  failAbove: Manifest['rejects']['failAbove'],
  { read, rejected }: { readonly read: number; readonly rejected: number },
): boolean {
  if (typeof failAbove === 'number') return rejected > failAbove;
  return rejected * 100 > (parsePercentage(failAbove) ?? 0) * read;
}

/** The JSON Schema of manifests, for editors: config/manifest.schema.json. */
export function createManifestJsonSchema(types: SourceTypes = SOURCE_TYPES): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(createManifestSchema(types), { io: 'input' });
  return { $schema, title: 'Backhaul manifest', ...schema };
}
