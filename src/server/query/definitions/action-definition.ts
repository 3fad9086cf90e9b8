import { type ApiError, invalidInput } from '../../http/errors.ts';
import type { Filter, FilterGroup } from '../filter.ts';
import { WHERE_ACTIONS_ARE } from '../item-fields.ts';

/** A saved group of conditions on events: an event is one of an action where it fits one of its steps. */
export interface ActionDefinition {
  readonly id: number;
  readonly steps: readonly ActionStep[];
}

export interface ActionStep {
  /** Null: whatever its name. */
  readonly event: string | null;
  /** What `$current_url` is; undefined: whatever it is. */
  readonly url?: { readonly matching: UrlMatching; readonly text: string };
  readonly filter: FilterGroup;
}

/** In `contains`, `%` is any text and `_` any character, as in the service. */
export const URL_MATCHINGS = ['contains', 'regex', 'exact'] as const;
export type UrlMatching = (typeof URL_MATCHINGS)[number];

export type ActionDefinitions = ReadonlyMap<number, ActionDefinition>;

/** Names that the events of an action may have; undefined: any. */
export function namesOf({ steps }: ActionDefinition): string[] | undefined {
  const names = steps.flatMap(({ event }) => event ?? []);
  return names.length === steps.length ? [...new Set(names)] : undefined;
}

/** The actions that the behaviours of a filter name themselves. */
export function actionIdsIn(filter: Filter): number[] {
  if (filter.kind === 'behaviour') return 'actionId' in filter.did ? [filter.did.actionId] : [];
  return filter.kind === 'group' ? filter.members.flatMap(actionIdsIn) : [];
}

export const noSuchAction = (id: number, attr: string): ApiError =>
  invalidInput(`There is no action ${id} in this project. ${WHERE_ACTIONS_ARE}`, attr);
