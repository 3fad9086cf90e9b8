import type { CompiledFlags } from '../evaluate/compile-flags.ts';
import type { Decision, Decisions } from '../evaluate/decide.ts';

/** What the answer to a client holds beside the flags: nothing of it is switched on here. */
const CONFIG = {
  config: { enable_collect_everything: true },
  toolbarParams: {},
  isAuthenticated: false,
  supportedCompression: ['gzip', 'gzip-js', 'lz64'],
  sessionRecording: false,
  capturePerformance: false,
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  surveys: false,
  siteApps: [],
  heatmaps: false,
  captureDeadClicks: false,
  defaultIdentifiedOnly: true,
  elementsChainAsString: true,
} as const;

export type DecideVersion = 1 | 2 | 3 | 4;

/** No flags: they were not asked for. */
export const renderConfig = (version: DecideVersion, featureFlags: object | readonly string[] = {}) =>
  version === 4
    ? { ...CONFIG, flags: {}, errorsWhileComputingFlags: false }
    : { ...CONFIG, featureFlags, ...(version === 3 ? NOTHING_DECIDED : {}) };

const NOTHING_DECIDED = {
  featureFlagPayloads: {},
  errorComputingFlags: false,
  errorsWhileComputingFlags: false,
};

/** The members of CONFIG, to be continued. */
const CONFIG_TEXT = JSON.stringify(CONFIG).slice(0, -1);

/**
 * The answer as JSON: each version of a client's question has its own shape. It is written member by member,
 * because an object with a key for every flag costs more than deciding it.
 */
export function renderDecisions(
  version: DecideVersion,
  { decided, failed }: Decisions,
  { byKey }: CompiledFlags,
): string {
  const errors = `"errorComputingFlags":${failed.size > 0},"errorsWhileComputingFlags":${failed.size > 0}`;
  switch (version) {
    case 1: {
      const keys = [...decided].flatMap(([key, { value }]) => (value === false ? [] : [key]));
      return `${CONFIG_TEXT},"featureFlags":${JSON.stringify(keys)}}`;
    }
    case 2:
      return `${CONFIG_TEXT},"featureFlags":${writeValues(decided, byKey, false)}}`;
    case 3:
      return `${CONFIG_TEXT},"featureFlags":${writeValues(decided, byKey, true)},"featureFlagPayloads":${writePayloads(decided, byKey)},${errors}}`;
    case 4:
      return `${CONFIG_TEXT},"flags":${writeDecisions(decided, byKey)},${errors}}`;
  }
}

type Decided = Decisions['decided'];
type ByKey = CompiledFlags['byKey'];

function writeValues(decided: Decided, byKey: ByKey, withOff: boolean): string {
  let text = '';
  for (const [key, { value }] of decided) {
    if (value === false && !withOff) continue;
    const written = typeof value === 'string' ? JSON.stringify(value) : value;
    text += `${text === '' ? '' : ','}${writeMember(key, byKey)}${written}`;
  }
  return `{${text}}`;
}

function writePayloads(decided: Decided, byKey: ByKey): string {
  let text = '';
  for (const [key, { payload }] of decided) {
    if (payload === undefined) continue;
    text += `${text === '' ? '' : ','}${writeMember(key, byKey)}${JSON.stringify(payload)}`;
  }
  return `{${text}}`;
}

function writeDecisions(decided: Decided, byKey: ByKey): string {
  let text = '';
  for (const [key, decision] of decided) {
    const written = JSON.stringify(renderDecision(key, decision, byKey));
    text += `${text === '' ? '' : ','}${writeMember(key, byKey)}${written}`;
  }
  return `{${text}}`;
}

const writeMember = (key: string, byKey: ByKey): string =>
  byKey.get(key)?.member ?? `${JSON.stringify(key)}:`;

function renderDecision(
  key: string,
  { value, reason, conditionIndex, payload }: Decision,
  byKey: CompiledFlags['byKey'],
) {
  const flag = byKey.get(key);
  return {
    key,
    enabled: value !== false,
    variant: typeof value === 'string' ? value : null,
    reason: {
      code: reason,
      condition_index: conditionIndex ?? null,
      description: describeReason(reason, conditionIndex),
    },
    metadata: { id: flag?.id ?? 0, version: flag?.version ?? 0, description: null, payload: payload ?? null },
  };
}

export function describeReason(reason: Decision['reason'], conditionIndex: number | undefined): string {
  switch (reason) {
    case 'condition_match':
      return `Matched condition set ${(conditionIndex ?? 0) + 1}`;
    case 'no_condition_match':
      return 'No matching condition set';
    case 'out_of_rollout_bound':
      return 'Out of rollout bound';
    case 'no_group_type':
      return 'No group type';
    case 'super_condition_value':
      return 'Super condition value';
    case 'holdout_condition_value':
      return 'Holdout condition value';
  }
}

/** The configuration that newer clients in browsers load before they ask for flags. */
export const renderRemoteConfig = (projectKey: string, hasFeatureFlags: boolean) => ({
  token: projectKey,
  hasFeatureFlags,
  supportedCompression: CONFIG.supportedCompression,
  capturePerformance: CONFIG.capturePerformance,
  autocapture_opt_out: CONFIG.autocapture_opt_out,
  autocaptureExceptions: CONFIG.autocaptureExceptions,
  sessionRecording: CONFIG.sessionRecording,
  heatmaps: CONFIG.heatmaps,
  captureDeadClicks: CONFIG.captureDeadClicks,
  surveys: CONFIG.surveys,
  defaultIdentifiedOnly: CONFIG.defaultIdentifiedOnly,
  elementsChainAsString: CONFIG.elementsChainAsString,
  isAuthenticated: CONFIG.isAuthenticated,
  toolbarParams: CONFIG.toolbarParams,
  config: CONFIG.config,
  siteApps: CONFIG.siteApps,
});
