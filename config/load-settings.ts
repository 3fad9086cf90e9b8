import { resolve } from 'node:path';
import { ConfigError } from '../src/lib/errors.ts';
import { suggest } from '../src/lib/suggest.ts';
import { type Environment, readVariable } from './environment.ts';
import { type SettingField, type Settings, settingFields, settingsSchema } from './settings.ts';

/**
 * What Kubernetes sets in every pod beside services named "backhaul…"; none of it is ours, not even
 * `BACKHAUL_PORT=tcp://10.0.0.1:80`.
 * https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables
 */
const isServiceLink = (name: string, value: string) =>
  /_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

/** Environment → Settings, or one ConfigError that names every mistake. */
export function loadSettings(env: Environment, cwd: string = process.cwd()): Settings {
  const fields = settingFields();
  const mistakes = unknownNames(env, fields);
  const written: Record<string, unknown> = {};
  const values = new Map<string, string>();

  for (const field of fields) {
    const target = objectAt(written, field.path.slice(0, -1));
    const variable = field.secret ? readVariable(env, field.env) : readPlain(env, field.env);
    if (variable.kind === 'unreadable') mistakes.push(variable.problem);
    if (variable.kind !== 'value') continue;
    target[field.path.at(-1) ?? ''] = variable.value;
    values.set(field.path.join('.'), variable.value);
  }

  const parsed = settingsSchema.safeParse(written);
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.join('.');
    const field = fields.find((candidate) => candidate.path.join('.') === path);
    const said = field?.secret ? 'has a value that is not shown here' : `is "${values.get(path) ?? ''}"`;
    mistakes.push(`${field?.env ?? path} ${said}: ${issue.message}`);
  }
  if (parsed.data) mistakes.push(...contradictions(parsed.data));
  if (mistakes.length > 0 || !parsed.data) throw wrongSettings(mistakes);
  const { dataDir, seedFile } = parsed.data;
  return {
    ...parsed.data,
    dataDir: resolve(cwd, dataDir),
    ...(seedFile === undefined ? {} : { seedFile: resolve(cwd, seedFile) }),
  };
}

/** Values that no log, report or message may hold. */
export function collectSecrets(settings: Settings): string[] {
  return settingFields()
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

function unknownNames(env: Environment, fields: readonly SettingField[]): string[] {
  const known = new Set(
    fields.flatMap((field) => (field.secret ? [field.env, `${field.env}_FILE`] : [field.env])),
  );
  // Compared without the prefix, which would make any two names look alike.
  const byWord = new Map([...known].map((name) => [name.replace(/^BACKHAUL_/, ''), name]));
  return Object.keys(env)
    .filter(
      (name) => name.startsWith('BACKHAUL_') && !known.has(name) && !isServiceLink(name, env[name] ?? ''),
    )
    .map((name) => {
      const word = suggest(name.replace(/^BACKHAUL_/, ''), byWord.keys());
      const hint =
        word === undefined
          ? 'variables of your own, for manifests, take names that do not start with BACKHAUL_'
          : `did you mean ${byWord.get(word)}?`;
      return `${name} is no setting of Backhaul; ${hint}`;
    });
}

function contradictions(settings: Settings): string[] {
  const { s3, queues } = settings;
  const mistakes: string[] = [];
  if ((s3.accessKeyId === undefined) !== (s3.secretAccessKey === undefined)) {
    mistakes.push(
      'BACKHAUL_S3_ACCESS_KEY_ID and BACKHAUL_S3_SECRET_ACCESS_KEY go together: set both, or neither',
    );
  }
  if (queues.password !== undefined && queues.password === queues.adminPassword) {
    mistakes.push(
      'BACKHAUL_QUEUES_PASSWORD and BACKHAUL_QUEUES_ADMIN_PASSWORD must differ: the password tells the role',
    );
  }
  return mistakes;
}

function wrongSettings(mistakes: readonly string[]): ConfigError {
  const count = mistakes.length === 1 ? 'A setting is wrong' : `${mistakes.length} settings are wrong`;
  return new ConfigError(
    [`${count} (environment):`, ...mistakes.map((mistake) => `  ${mistake}`)].join('\n'),
  );
}

function objectAt(root: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  return path.reduce((at, key) => {
    at[key] ??= {};
    return at[key] as Record<string, unknown>;
  }, root);
}
