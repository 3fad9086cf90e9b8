import { readFile } from 'node:fs/promises';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { callApi, fetchAllPages } from '../call-api.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { type Explanation, renderExplanation } from '../render/render-explanation.ts';
import { renderList } from '../render/render-list.ts';
import { withBundled } from '../with-runtime.ts';

export interface FlagOptions {
  /** Id of a project; the data folder's own where it is left out. */
  readonly project?: string;
}

interface Flag {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  readonly active: boolean;
  readonly version: number;
  readonly rollout_percentage: number | null;
  readonly filters: {
    readonly groups?: readonly unknown[] | null;
    readonly multivariate?: { readonly variants: readonly { readonly key: string }[] } | null;
  };
}

/** `backhaul flags ls`. */
export async function listFlags(context: CommandContext, options: FlagOptions): Promise<ExitCode> {
  const flags = await withBundled(context, (api) => fetchAllPages<Flag>(api, toPath(options)));
  context.terminal.data(flags, () =>
    renderList(
      ['key', 'state', 'for', 'values', 'name'],
      flags.map((flag) => [
        flag.key,
        flag.active ? 'on' : 'off',
        describeShare(flag),
        describeValues(flag),
        flag.name,
      ]),
    ),
  );
  return EXIT.done;
}

const describeShare = ({ rollout_percentage: share, filters }: Flag): string => {
  const count = filters.groups?.length ?? 1;
  return share === null ? `${count} ${count === 1 ? 'condition' : 'conditions'}` : `${share}%`;
};

const describeValues = ({ filters }: Flag): string =>
  filters.multivariate?.variants.map(({ key }) => key).join(' ') || 'true';

/** `backhaul flags show`: the definition, as the API has it. */
export async function showFlag(
  context: CommandContext,
  key: string,
  options: FlagOptions,
): Promise<ExitCode> {
  const flag = await withBundled(context, async (api) => {
    const flags = await fetchAllPages<Flag>(api, toPath(options));
    return flags.find((each) => each.key === key);
  });
  if (flag === undefined) throw new ConfigError(`There is no flag "${key}"; see: backhaul flags ls`);
  context.terminal.data(flag, () => JSON.stringify(flag, null, 2));
  return EXIT.done;
}

export interface TestFlagOptions extends FlagOptions {
  readonly distinctId: string;
  /** `company=acme` */
  readonly group?: readonly string[];
  /** `plan=pro`; a value that is JSON is taken as such. */
  readonly property?: readonly string[];
}

/** `backhaul flags test`: what somebody gets of a flag, and why. */
export async function testFlag(
  context: CommandContext,
  key: string,
  options: TestFlagOptions,
): Promise<ExitCode> {
  const body = {
    distinct_id: options.distinctId,
    groups: toObject('--group', options.group, (text) => text),
    person_properties: toObject('--property', options.property, readValue),
  };
  const path = `${toPath(options)}${encodeURIComponent(key)}/test/`;
  const why = await withBundled(context, (api) => callApi<Explanation>(api, { method: 'POST', path, body }));
  context.terminal.data(why, () => renderExplanation(why));
  return EXIT.done;
}

interface Takeover {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  readonly refused: readonly { readonly key: string; readonly why: string }[];
  readonly notes: readonly { readonly key: string; readonly note: string }[];
}

/** `backhaul flags load`: definitions of another service. Exits with 1 where some cannot be expressed. */
export async function loadFlags(
  context: CommandContext,
  file: string,
  options: FlagOptions & { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const given = await readExport(file);
  const body = Array.isArray(given) ? { flags: given } : given;
  const path = `${toPath(options)}take_over/?dry_run=${options.dryRun === true}`;
  const report = await withBundled(context, (api) => callApi<Takeover>(api, { method: 'POST', path, body }));
  context.terminal.data(report, () => renderTakeover(report, options.dryRun === true));
  return report.refused.length > 0 ? EXIT.failed : EXIT.done;
}

async function readExport(file: string): Promise<unknown> {
  try {
    return parseJson(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new ConfigError(
      `${file} cannot be read as JSON: ${getMessage(cause)}. It takes the answer of the old service to GET /api/projects/<id>/feature_flags/ or GET /api/feature_flag/local_evaluation?send_cohorts`,
      cause,
    );
  }
}

function renderTakeover({ created, changed, unchanged, refused, notes }: Takeover, dryRun: boolean): string {
  const counts = `${created.length} made, ${changed.length} changed, ${unchanged.length} as before, ${refused.length} cannot be expressed`;
  return [
    dryRun ? `It would be: ${counts}. Nothing was kept.` : `Flags: ${counts}.`,
    ...refused.map(({ key, why }) => `  ${key}: ${why}`),
    ...notes.map(({ key, note }) => `  ${key}: ${note}`),
  ].join('\n');
}

const toPath = ({ project = '@current' }: FlagOptions): string =>
  `/api/projects/${encodeURIComponent(project)}/feature_flags/`;

function toObject(
  option: string,
  pairs: readonly string[] = [],
  read: (text: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new ConfigError(`${option} takes name=value, not "${pair}"`);
      return [pair.slice(0, at), read(pair.slice(at + 1))];
    }),
  );
}

function readValue(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
