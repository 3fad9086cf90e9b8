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

/** Each version of a client's question has its own shape. */
export function renderDecisions(
  version: DecideVersion,
  { decided, failed }: Decisions,
  { byKey }: CompiledFlags,
): object {
  const hasFailed = failed.size > 0;
  const entries = [...decided];
  const on = entries.filter(([, { value }]) => value !== false);
  switch (version) {
    case 1:
      return { ...CONFIG, featureFlags: on.map(([key]) => key) };
    case 2:
      return { ...CONFIG, featureFlags: toValues(on) };
    case 3:
      return {
        ...CONFIG,
        featureFlags: toValues(entries),
        featureFlagPayloads: Object.fromEntries(
          on.flatMap(([key, { payload }]) => (payload === undefined ? [] : [[key, payload]])),
        ),
        errorComputingFlags: hasFailed,
        errorsWhileComputingFlags: hasFailed,
      };
    case 4:
      return {
        ...CONFIG,
        flags: Object.fromEntries(
          entries.map(([key, decision]) => [key, renderDecision(key, decision, byKey)]),
        ),
        errorComputingFlags: hasFailed,
        errorsWhileComputingFlags: hasFailed,
      };
  }
}

const toValues = (entries: readonly (readonly [string, Decision])[]) =>
  Object.fromEntries(entries.map(([key, { value }]) => [key, value]));

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
