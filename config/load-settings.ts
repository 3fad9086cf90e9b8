import { resolve } from 'node:path';
import { ConfigError } from '../src/lib/errors.ts';
import { suggest } from '../src/lib/suggest.ts';
import { type Environment, readVariable } from './environment.ts';
import { listSettingFields, type SettingField, type Settings, settingsSchema } from './settings.ts';

/**
 * Variables that Kubernetes sets in every pod for services named "backhaul…", such as
 * `BACKHAUL_PORT=tcp://10.0.0.1:80`. They are not settings.
 * https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables
 */
const isServiceLink = (name: string, value: string) =>
  /_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

/** Environment → Settings. Throws one ConfigError that names every mistake. */
export function loadSettings(env: Environment, cwd: string = process.cwd()): Settings {
  const fields = listSettingFields();
  const mistakes = findUnknownNames(env, fields);
  const values: Record<string, unknown> = {};
  const texts = new Map<string, string>();

  for (const field of fields) {
    const target = getObject(values, field.path.slice(0, -1));
    const variable = field.secret ? readVariable(env, field.env) : readPlain(env, field.env);
    if (variable.kind === 'unreadable') mistakes.push(variable.problem);
    if (variable.kind !== 'value') continue;
    target[field.path.at(-1) ?? ''] = variable.value;
    texts.set(field.path.join('.'), variable.value);
  }

  const parsed = settingsSchema.safeParse(values);
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.join('.');
    const field = fields.find((candidate) => candidate.path.join('.') === path);
    const shown = field?.secret
      ? 'has a value that is not shown here'
      : `is "${hideUserInfo(texts.get(path) ?? '')}"`;
    mistakes.push(`${field?.env ?? path} ${shown}: ${issue.message}`);
  }
  if (parsed.data) mistakes.push(...findContradictions(parsed.data));
  if (mistakes.length > 0 || !parsed.data) throw createSettingsError(mistakes);
  const { dataDir, seedFile, geoipFile } = parsed.data;
  return {
    ...parsed.data,
    dataDir: resolve(cwd, dataDir),
    ...(seedFile === undefined ? {} : { seedFile: resolve(cwd, seedFile) }),
    ...(geoipFile === undefined ? {} : { geoipFile: resolve(cwd, geoipFile) }),
  };
}

/** Values that no log, report or message may contain. */
export function collectSecrets(settings: Settings): string[] {
  return listSettingFields()
    .filter((field) => field.secret)
    .flatMap((field) => {
      const value = field.path.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], settings);
      if (typeof value !== 'string') return [];
      const password = URL.canParse(value) ? new URL(value).password : '';
      return password === '' ? [value] : [value, password, decodeURIComponent(password)];
    });
}

function readPlain(env: Environment, name: string) {
  const value = env[name] ?? '';
  return value === '' || isServiceLink(name, value)
    ? ({ kind: 'absent' } as const)
    : ({ kind: 'value', value } as const);
}

function findUnknownNames(env: Environment, fields: readonly SettingField[]): string[] {
  const known = new Set(
    fields.flatMap((field) => (field.secret ? [field.env, `${field.env}_FILE`] : [field.env])),
  );
  // Compared without the prefix, which would make any two names similar.
  const byWord = new Map([...known].map((name) => [name.replace(/^BACKHAUL_/, ''), name]));
  return Object.keys(env)
    .filter(
      (name) => name.startsWith('BACKHAUL_') && !known.has(name) && !isServiceLink(name, env[name] ?? ''),
    )
    .map((name) => {
      const word = suggest(name.replace(/^BACKHAUL_/, ''), byWord.keys());
      const hint =
        word === undefined
          ? 'names of your own variables, for manifests, must not start with BACKHAUL_'
          : `did you mean ${byWord.get(word)}?`;
      return `${name} is not a setting of Backhaul; ${hint}`;
    });
}

function findContradictions(settings: Settings): string[] {
  const { s3, queues, webhook } = settings;
  const mistakes: string[] = [];
  if ((webhook.url === undefined) !== (webhook.secret === undefined)) {
    mistakes.push(
      'BACKHAUL_WEBHOOK_URL and BACKHAUL_WEBHOOK_SECRET must be set together: set both, or neither',
    );
  }
  if ((s3.accessKeyId === undefined) !== (s3.secretAccessKey === undefined)) {
    mistakes.push(
      'BACKHAUL_S3_ACCESS_KEY_ID and BACKHAUL_S3_SECRET_ACCESS_KEY must be set together: set both, or neither',
    );
  }
  if (queues.password !== undefined && queues.password === queues.adminPassword) {
    mistakes.push(
      'BACKHAUL_QUEUES_PASSWORD and BACKHAUL_QUEUES_ADMIN_PASSWORD must differ: the password decides the role',
    );
  }
  return mistakes;
}

function createSettingsError(mistakes: readonly string[]): ConfigError {
  const count = mistakes.length === 1 ? 'A setting is wrong' : `${mistakes.length} settings are wrong`;
  return new ConfigError(
    [`${count} (environment):`, ...mistakes.map((mistake) => `  ${mistake}`)].join('\n'),
  );
}

function getObject(root: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  return path.reduce((at, key) => {
    at[key] ??= {};
    return at[key] as Record<string, unknown>;
  }, root);
}

const hideUserInfo = (text: string): string => text.replace(/\/\/[^/?#]*@/g, '//***@');
