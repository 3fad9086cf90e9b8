import fc from 'fast-check';
import type { JsonObject } from '../../../src/server/http/json.ts';
import { type Happened, NAMES, type Somebody, teamOf, urlOf } from './history.ts';

/** A step of an action, as a program checks it. */
export interface ActionStep {
  readonly name: string | undefined;
  readonly url: { readonly matching: 'contains' | 'regex' | 'exact'; readonly text: string } | undefined;
  readonly plan: string | undefined;
  readonly team: string | undefined;
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const step: fc.Arbitrary<ActionStep> = fc.record({
  name: maybe(fc.constantFrom(...NAMES)),
  url: maybe(
    fc.constantFrom(
      { matching: 'contains' as const, text: '/a/' },
      { matching: 'contains' as const, text: '/A/' },
      { matching: 'contains' as const, text: '_example%/x' },
      { matching: 'regex' as const, text: '/[bc]/[xy]?$' },
      { matching: 'exact' as const, text: urlOf({ name: 'a', plan: 'x' }) },
    ),
  ),
  plan: maybe(fc.constantFrom('x', 'y')),
  team: maybe(fc.constantFrom('x', 'y')),
});

export const actionSteps: fc.Arbitrary<ActionStep[]> = fc.array(step, { minLength: 1, maxLength: 3 });

/** In the form of the API. */
export const toSteps = (steps: readonly ActionStep[]): JsonObject[] =>
  steps.map(({ name, url, plan, team }) => ({
    event: name ?? null,
    ...(url === undefined ? {} : { url: url.text, url_matching: url.matching }),
    properties: [
      ...(plan === undefined ? [] : [{ key: 'plan', value: plan, type: 'event' }]),
      ...(team === undefined ? [] : [{ key: 'team', value: team, type: 'person' }]),
    ],
  }));

/** What the addresses of histories are by each of the conditions above. */
const URL_TESTS: Readonly<Record<string, (url: string) => boolean>> = {
  '/a/': (url) => url.includes('/a/'),
  '/A/': () => false,
  '_example%/x': (url) => url.endsWith('/x'),
  '/[bc]/[xy]?$': (url) => ['/b/', '/b/x', '/b/y', '/c/', '/c/x', '/c/y'].some((end) => url.endsWith(end)),
};

const fits = ({ name, url, plan, team }: ActionStep, event: Happened, somebody: Somebody): boolean =>
  (name === undefined || event.name === name) &&
  (url === undefined || (URL_TESTS[url.text] ?? ((own) => own === url.text))(urlOf(event))) &&
  (plan === undefined || event.plan === plan) &&
  (team === undefined || teamOf(somebody) === team);

/** The same people, of whose events it is known whether they are of the action. */
export const markEvents = (people: readonly Somebody[], steps: readonly ActionStep[]): Somebody[] =>
  people.map((somebody) => ({
    ...somebody,
    events: somebody.events.map((event) => ({
      ...event,
      isOfAction: steps.some((one) => fits(one, event, somebody)),
    })),
  }));
