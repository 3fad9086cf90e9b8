import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

type Variables = Readonly<Record<string, string>>;

export const readText = (file: string): string =>
  readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** The part of the Compose specification that the file uses; any other key is a mistake. */
const service = z.strictObject({
  build: z.literal('.').optional(),
  image: z.string(),
  init: z.boolean().optional(),
  hostname: z.string().optional(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  scale: z.string().optional(),
  restart: z.enum(['no', 'unless-stopped']),
  stop_grace_period: z.string().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.tuple([z.literal('ALL')]).optional(),
  security_opt: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({
        condition: z.enum(['service_healthy', 'service_completed_successfully']),
        required: z.literal(false).optional(),
      }),
    )
    .optional(),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
      start_period: z.string().optional(),
    })
    .optional(),
});
const compose = z.strictObject({
  'x-backhaul': z.unknown(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

export type ComposeFile = z.infer<typeof compose>;

/** docker-compose.yml as it is written, or with the variables of an `.env` in it. */
export function readCompose(variables?: Variables): ComposeFile {
  const file = compose.parse(parse(readText('docker-compose.yml'), { merge: true }));
  return variables === undefined ? file : (interpolateAll(file, variables) as ComposeFile);
}

/** Names of all variables that it takes from `.env`. */
export const listVariables = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name ?? '')),
];

/** https://docs.docker.com/reference/compose-file/interpolation/ */
function interpolate(text: string, variables: Variables): string {
  return text.replaceAll(
    /\$\$|\$\{(\w+)(?:(:-|:\?)([^}]*))?\}/g,
    (all, name: string, operator?: string, rest = '') => {
      if (all === '$$') return '$';
      const value = variables[name] ?? '';
      if (value !== '') return value;
      if (operator === ':?') throw new Error(`${name}: ${rest}`);
      return rest;
    },
  );
}

function interpolateAll(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return interpolate(value, variables);
  if (Array.isArray(value)) return value.map((each) => interpolateAll(each, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, interpolateAll(each, variables)]),
  );
}

/** An `.env` as Compose reads it: later lines may use earlier ones. */
export function parseEnv(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(/^([A-Z]\w*)=(.*)$/gm))
    variables[name] = interpolate(value, variables);
  return variables;
}

/** The same text with the lines switched on that a `#` keeps from being used and `wanted` takes. */
export const switchOn = (text: string, wanted: (line: string) => boolean): string =>
  text.replaceAll(/^#([A-Z]\w*=.*)$/gm, (all, line: string) => (wanted(line) ? line : all));

/** A copy of deploy/ in a folder of its own, with the script that writes `.env`. */
export function createEnvLab() {
  const folder = mkdtempSync(join(tmpdir(), 'backhaul-env-'));
  mkdirSync(join(folder, 'deploy'));
  for (const file of ['make-env.sh', 'example.env'])
    cpSync(new URL(`../../deploy/${file}`, import.meta.url), join(folder, 'deploy', file));
  const path = join(folder, '.env');
  return {
    path,
    /** `programs`: shell commands in place of programs that the script uses. */
    make: (programs: Readonly<Record<string, string>> = {}) => {
      const bin = join(folder, 'bin');
      mkdirSync(bin, { recursive: true });
      for (const [name, command] of Object.entries(programs))
        writeFileSync(join(bin, name), `#!/bin/sh\n${command}\n`, {
          mode: 0o755,
        });
      const env = { PATH: `${bin}${delimiter}${process.env['PATH']}` };
      return execFileSync('sh', [join(folder, 'deploy/make-env.sh')], {
        stdio: 'pipe',
        env,
      });
    },
    read: () => readFileSync(path, 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
