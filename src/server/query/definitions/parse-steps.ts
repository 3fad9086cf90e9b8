import { type ApiError, invalidInput } from '../../http/errors.ts';
import { isJsonObject, type JsonObject } from '../../http/json.ts';
import { checkPattern } from '../check-pattern.ts';
import type { Filter } from '../filter.ts';
import { type ParseOptions, parseFilter } from '../parse-filter.ts';
import { storable } from '../storable.ts';
import { type ActionStep, URL_MATCHINGS } from './action-definition.ts';

const MAX_STEPS = 20;
/** Of all steps together. */
const MAX_STEP_CONDITIONS = 200;
const MAX_EVENT_CHARACTERS = 400;
const MAX_URL_CHARACTERS = 1000;

const ATTR = 'steps';

/** Fields of the service's steps that ask for elements of pages, of which nothing is stored here. */
const ELEMENT_FIELDS = ['selector', 'tag_name', 'text', 'href'] as const;

/**
 * Reads the steps of an action strictly: nothing of them is ignored. Throws an ApiError (400).
 *
 * @param options `anyPattern` as of filters (parse-filter.ts)
 */
export function parseSteps(given: unknown, options: Pick<ParseOptions, 'anyPattern'> = {}): ActionStep[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_STEPS) {
    throw wrong(`An action takes a list of 1 to ${MAX_STEPS} steps.`);
  }
  const steps = given.map((step) => parseStep(step, options));
  const count = steps.reduce((sum, { filter }) => sum + countLeaves(filter), 0);
  if (count > MAX_STEP_CONDITIONS) {
    throw wrong(`The steps of an action may have ${MAX_STEP_CONDITIONS} conditions at most.`);
  }
  return steps;
}

function parseStep(step: unknown, options: Pick<ParseOptions, 'anyPattern'>): ActionStep {
  if (!isJsonObject(step)) throw wrong('A step must be an object.');
  const element = ELEMENT_FIELDS.find((name) => isGiven(step[name]));
  if (element !== undefined) {
    throw wrong(
      `Steps cannot ask for elements of pages (${element}): use the event, its url or its properties.`,
    );
  }
  const event = readText(step, 'event', MAX_EVENT_CHARACTERS) ?? null;
  const filter = parseFilter(step['properties'], {
    ...options,
    ...{ defaultType: 'event', attr: ATTR, strict: true },
  });
  if (hasBehaviour(filter)) throw wrong('Steps cannot ask for the behaviour of persons: use a cohort.');
  const url = readUrl(step);
  if (url?.matching === 'regex' && !options.anyPattern) checkPattern(url.text, ATTR);
  return { event, ...(url === undefined ? {} : { url }), filter };
}

function readUrl(step: JsonObject): ActionStep['url'] {
  const text = readText(step, 'url', MAX_URL_CHARACTERS);
  const { url_matching: given } = step;
  const matching = isGiven(given) ? URL_MATCHINGS.find((name) => name === given) : 'contains';
  if (matching === undefined) throw wrong(`The url_matching of a step is ${URL_MATCHINGS.join(', ')}.`);
  return text === undefined ? undefined : { matching, text };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

function readText(step: JsonObject, name: string, most: number): string | undefined {
  const value = step[name];
  if (!isGiven(value)) return undefined;
  if (typeof value === 'string' && value.length <= most) return storable(value, ATTR);
  throw wrong(`The ${name} of a step is text of ${most} characters at most.`);
}

const countLeaves = (filter: Filter): number =>
  filter.kind === 'group' ? filter.members.reduce((sum, member) => sum + countLeaves(member), 0) : 1;

const hasBehaviour = (filter: Filter): boolean =>
  filter.kind === 'group' ? filter.members.some(hasBehaviour) : filter.kind === 'behaviour';

const wrong = (detail: string): ApiError => invalidInput(detail, ATTR);
