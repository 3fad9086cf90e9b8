import { JSON_END } from './ordinal.ts';

/** Folder in which runs of `plan --full` keep parts and identity facts while they count. */
export const toPlanPrefix = (name: string): string => `_plans/${name}/`;

/** That of one run. */
export const toPlanRunPrefix = (name: string, run: string): string => `${toPlanPrefix(name)}${run}/`;

/** Says since when a run was there the last time, below its folder. */
export const toPlanAliveKey = (prefix: string): string => `${prefix}alive${JSON_END}`;

/** The run that a key below the folder of a plan is of. Earlier versions had one at a time, without a folder of its own. */
export const parsePlanRun = (name: string, key: string): string =>
  key.slice(toPlanPrefix(name).length).split('/')[0] ?? '';

/** Identity facts under their final ids, below the folder of a plan. */
export const toPlanFactsPrefix = (prefix: string): string => `${prefix}people/`;
