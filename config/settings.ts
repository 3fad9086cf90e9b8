import { isIP } from 'node:net';
import { z } from 'zod';
import { DELETION_SCHEDULE, nextOccurrence } from '../src/lib/cron.ts';

/** The name of a setting in the environment. */
export interface SettingName {
  readonly env: string;
  /** The value is never shown. It is also read from the file that `<env>_FILE` names. */
  readonly secret?: boolean;
}

const settingNames = z.registry<SettingName>();

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const text = z.string();

const wholeNumber = (from: number, to: number) => {
  const error = `it takes a whole number from ${from} to ${to}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number().min(from, error).max(to, error));
};

const address = (protocols: readonly string[]) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
    error: `it takes an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  });

/** One that messages show, and so may every log. */
const shownAddress = () =>
  address(['http:', 'https:']).refine(
    (value) => !URL.canParse(value) || (new URL(value).username === '' && new URL(value).password === ''),
    { error: 'it takes an address without user name and password: messages and logs show it' },
  );

const isS3Location = (value: string) =>
  /^s3:\/\/[A-Za-z0-9][A-Za-z0-9._-]{1,62}(\/.*)?$/.test(value) && !/\/\.\.?(\/|$)/.test(value);

const isNetwork = (text: string): boolean => {
  if (text === 'none') return true;
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  return (
    version !== 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  );
};

const isWebhookSecret = (value: string): boolean => {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
};

const s3Location = z.string().refine(isS3Location, {
  error: 'it takes s3://bucket or s3://bucket/prefix; leave it unset for a folder in the data folder',
});

const networks = z
  .string()
  .transform((value) => value.split(',').map((network) => network.trim()))
  .refine((list) => list.every(isNetwork), {
    error: 'it takes addresses or networks such as 10.0.0.0/8, separated by commas; or none',
  })
  .transform((list) => list.filter((network) => network !== 'none'));

const schedule = z.string().refine((value) => nextOccurrence(value, new Date(0)) !== undefined, {
  error: 'it takes the five fields of cron, such as "0 5 * * 0" (minute, hour, day, month, day of the week)',
});

const webhookSecret = z.string().refine(isWebhookSecret, {
  error: 'it takes whsec_ and 24 to 64 bytes in base64, such as: echo "whsec_$(openssl rand -base64 32)"',
});

const boolean = z.stringbool({ error: 'it takes true or false' });

/** Every setting there is. Descriptions become config/example.env and the table of the README. */
export const settingsSchema = z.strictObject({
  dataDir: text
    .default('.backhaul')
    .describe('Folder of all embedded data: queue, database, staging, keys. Relative to the current folder.')
    .register(settingNames, { env: 'BACKHAUL_DATA_DIR' }),
  redisUrl: address(['redis:', 'rediss:'])
    .exactOptional()
    .describe('Redis or Valkey (6.2 or newer) that holds the queue. Unset: a private one in the data folder.')
    .register(settingNames, { env: 'REDIS_URL', secret: true }),
  redisServer: text
    .exactOptional()
    .describe(
      'Path of the redis-server to run privately. Unset: the one on PATH, else the one that the set-up fetched.',
    )
    .register(settingNames, { env: 'BACKHAUL_REDIS_SERVER' }),
  databaseUrl: address(['postgres:', 'postgresql:'])
    .exactOptional()
    .describe('PostgreSQL of the bundled API. Unset: an embedded database (PGlite) in the data folder.')
    .register(settingNames, { env: 'DATABASE_URL', secret: true }),
  staging: s3Location
    .exactOptional()
    .describe(
      'Where parts, receipts and rejects are kept: s3://bucket/prefix. Unset: a folder in the data folder.',
    )
    .register(settingNames, { env: 'BACKHAUL_STAGING' }),
  s3: z.strictObject({
    endpoint: shownAddress()
      .exactOptional()
      .describe(
        'S3 server other than AWS, for staging and s3:// sources. Unset: the endpoint of the AWS_* variables, else AWS.',
      )
      .register(settingNames, { env: 'BACKHAUL_S3_ENDPOINT' }),
    region: text
      .exactOptional()
      .describe('Region of the buckets. Unset: the region of the AWS_* variables or the AWS profile.')
      .register(settingNames, { env: 'BACKHAUL_S3_REGION' }),
    accessKeyId: text
      .exactOptional()
      .describe(
        'Access key ID; set it together with the secret below. Unset: the usual AWS chain (AWS_* variables, profile, role).',
      )
      .register(settingNames, { env: 'BACKHAUL_S3_ACCESS_KEY_ID', secret: true }),
    secretAccessKey: text
      .exactOptional()
      .describe('Secret of the access key.')
      .register(settingNames, { env: 'BACKHAUL_S3_SECRET_ACCESS_KEY', secret: true }),
    forcePathStyle: boolean
      .exactOptional()
      .describe(
        'Addresses buckets as /bucket/key (true) or bucket.host/key (false). Unset: true if an endpoint is set.',
      )
      .register(settingNames, { env: 'BACKHAUL_S3_PATH_STYLE' }),
  }),
  logLevel: z
    .enum(LOG_LEVELS, { error: `it takes one of ${LOG_LEVELS.join(', ')}` })
    .default('info')
    .describe(`Lowest level that is logged: ${LOG_LEVELS.join(', ')}.`)
    .register(settingNames, { env: 'BACKHAUL_LOG_LEVEL' }),
  host: text
    .default('127.0.0.1')
    .describe('Address that the bundled API and the queue dashboard listen on.')
    .register(settingNames, { env: 'BACKHAUL_HOST' }),
  port: wholeNumber(0, 65_535)
    .default(0)
    .describe('Port of both. 0 chooses a free one.')
    .register(settingNames, { env: 'BACKHAUL_PORT' }),
  apiUrl: shownAddress()
    .transform((value) => value.replace(/[?#].*$/, '').replace(/\/+$/, ''))
    .exactOptional()
    .describe(
      'Address of a bundled API that another machine or container runs with this data folder, whose keys.json must be readable here. Unset: the command finds or starts one itself.',
    )
    .register(settingNames, { env: 'BACKHAUL_API_URL' }),
  apiRequestsPerMinute: wholeNumber(1, 1_000_000)
    .exactOptional()
    .describe(
      'Requests per minute that each personal key may send to the bundled API; ingestion is not limited. Unset: no limit.',
    )
    .register(settingNames, { env: 'BACKHAUL_API_REQUESTS_PER_MINUTE' }),
  publicUrl: shownAddress()
    .transform((value) => value.replace(/[?#].*$/, '').replace(/\/+$/, ''))
    .exactOptional()
    .describe(
      'Address of the bundled API for clients behind a proxy, such as https://events.example.com; links between pages of a list start with it. Unset: the address of each request.',
    )
    .register(settingNames, { env: 'BACKHAUL_PUBLIC_URL' }),
  trustedProxies: networks
    .exactOptional()
    .describe(
      'Proxies of the bundled API, whose X-Forwarded-For names the client: addresses or networks, separated by commas, or none. Unset: this machine and private networks.',
    )
    .register(settingNames, { env: 'BACKHAUL_TRUSTED_PROXIES' }),
  geoipFile: text
    .exactOptional()
    .describe(
      'MaxMind file (.mmdb, such as GeoLite2 City) that gives decisions about feature flags the place of an address. Unset: no place is known. Relative to the current folder.',
    )
    .register(settingNames, { env: 'GEOIP_DB' }),
  workerConcurrency: wholeNumber(1, 64)
    .default(2)
    .describe('Parts that one worker process imports at once; half as many while it stages files.')
    .register(settingNames, { env: 'BACKHAUL_WORKER_CONCURRENCY' }),
  workerPort: wholeNumber(1, 65_535)
    .exactOptional()
    .describe(
      'Port on which "backhaul worker" answers /healthz (it is alive) and /readyz (Redis and staging can be reached), at BACKHAUL_HOST. Unset: none.',
    )
    .register(settingNames, { env: 'BACKHAUL_WORKER_PORT' }),
  keepDays: wholeNumber(1, 36_500)
    .exactOptional()
    .describe(
      'Parts, rejects and identity facts of a finished migration are removed so many days after its end, when a run or resume ends; its report stays. Unset: kept until "backhaul rm".',
    )
    .register(settingNames, { env: 'BACKHAUL_KEEP_DAYS' }),
  queues: z.strictObject({
    user: text
      .default('backhaul')
      .describe('User name of the pages of migrations, of /metrics and of the queue dashboard.')
      .register(settingNames, { env: 'BACKHAUL_QUEUES_USER' }),
    password: text
      .exactOptional()
      .describe(
        'Password of the pages of migrations, of /metrics and of the queue dashboard at /queues, read-only. Unset: a generated one in keys.json of the data folder.',
      )
      .register(settingNames, { env: 'BACKHAUL_QUEUES_PASSWORD', secret: true }),
    adminPassword: text
      .exactOptional()
      .describe(
        'Password of the same pages with the right to pause, resume, cancel and replay migrations, and to retry, remove and pause jobs.',
      )
      .register(settingNames, { env: 'BACKHAUL_QUEUES_ADMIN_PASSWORD', secret: true }),
  }),
  webhook: z.strictObject({
    url: address(['http:', 'https:'])
      .exactOptional()
      .describe(
        'Address that is told when a migration starts, finishes, pauses, stops or fails, and of schedules that were missed or fail. Unset: nobody is told.',
      )
      .register(settingNames, { env: 'BACKHAUL_WEBHOOK_URL', secret: true }),
    secret: webhookSecret
      .exactOptional()
      .describe(
        'Signs what is told, as whsec_ and 24 to 64 bytes in base64: echo "whsec_$(openssl rand -base64 32)". Needed with the address.',
      )
      .register(settingNames, { env: 'BACKHAUL_WEBHOOK_SECRET', secret: true }),
    allowPrivate: boolean
      .default(false)
      .describe('Also tells addresses of this machine and of private networks, such as in a rehearsal.')
      .register(settingNames, { env: 'BACKHAUL_WEBHOOK_ALLOW_PRIVATE' }),
  }),
  deletionSchedule: schedule
    .default(DELETION_SCHEDULE)
    .describe(
      'When the bundled API deletes the events of persons that were deleted together with their events: five fields of cron, UTC.',
    )
    .register(settingNames, { env: 'BACKHAUL_DELETION_SCHEDULE' }),
  seedFile: text
    .exactOptional()
    .describe(
      'YAML or JSON file of definitions (cohorts, feature flags) that the bundled API creates or updates by name at each start. Relative to the current folder.',
    )
    .register(settingNames, { env: 'BACKHAUL_SEED' }),
  projectApiKey: text
    .exactOptional()
    .describe('Project key of a destination, for manifests: `apiKey: ${BACKHAUL_PROJECT_API_KEY}`.')
    .register(settingNames, { env: 'BACKHAUL_PROJECT_API_KEY', secret: true }),
  personalApiKey: text
    .exactOptional()
    .describe(
      'Personal key of a destination, with the scopes query:read and project:read: "backhaul verify" asks with it what arrived.',
    )
    .register(settingNames, { env: 'BACKHAUL_PERSONAL_API_KEY', secret: true }),
  hashKey: text
    .exactOptional()
    .describe('Key for hashing personal data, for manifests: `hash: { key: ${BACKHAUL_HASH_KEY} }`.')
    .register(settingNames, { env: 'BACKHAUL_HASH_KEY', secret: true }),
  noColor: text
    .transform(() => true)
    .default(false)
    .describe('Any value turns colours off.')
    .register(settingNames, { env: 'NO_COLOR' }),
});

export type Settings = z.infer<typeof settingsSchema>;

export interface SettingField extends SettingName {
  /** Its path in Settings. */
  readonly path: readonly string[];
  readonly schema: z.core.$ZodType;
}

/** The settings one by one, in the order they are declared. */
export function listSettingFields(
  schema: z.ZodObject = settingsSchema,
  above: readonly string[] = [],
): SettingField[] {
  return Object.entries(schema.shape).flatMap(([key, field]) => {
    const path = [...above, key];
    if (field instanceof z.ZodObject) return listSettingFields(field, path);
    const name = settingNames.get(field);
    return name ? [{ ...name, path, schema: field }] : [];
  });
}
