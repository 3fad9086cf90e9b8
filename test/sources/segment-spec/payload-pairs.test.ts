import { describe, expect, it } from 'vitest';
import { createMapper } from '../create-mapper.ts';

/**
 * Records in the shape of jitsucom/jitsu's data layout tests (page, identify, track; MIT), and what the rules of its
 * PostHog destination make of them, property by property. What differs is listed in docs/payload-pairs.md.
 */

const visit = {
  library: { name: 'jitsu-js', version: '1.0.0' },
  locale: 'de-AT',
  groupId: 'group-7',
  campaign: { name: 'spring', source: 'mail', medium: 'email' },
  screen: { width: 1440, height: 900, innerWidth: 1200, innerHeight: 800, density: 2 },
  page: {
    url: 'https://shop.example:3088/books?utm_source=mail',
    host: 'shop.example:3088',
    path: '/books',
    search: '?utm_source=mail',
    title: 'Books',
    referrer: 'https://search.example',
    referring_domain: 'search.example',
  },
};
const times = { timestamp: '2022-11-14T08:56:34.395Z', sentAt: '2022-11-14T08:56:34.395Z' };
const traits = { caseName: 'one', CaseLastName: 'Doe', User_Name: 'jj', email: 'one@example.com' };
const onPage = {
  $current_url: 'https://shop.example:3088/books?utm_source=mail',
  $host: 'shop.example:3088',
  $pathname: '/books',
  $referrer: 'https://search.example',
  $referring_domain: 'search.example',
  $screen_width: 1440,
  $screen_height: 900,
  $groups: { company: 'group-7' },
};

const map = createMapper('segment');

const EVENTS: readonly [string, object, string, object][] = [
  [
    'page',
    {
      type: 'page',
      properties: {
        name: 'Books',
        url: visit.page.url,
        path: '/books',
        title: 'Books',
        hash: '',
        width: 1200,
      },
    },
    '$pageview',
    onPage,
  ],
  ['track', { type: 'track', event: 'testEvent', properties: { deep: { is: 'kept' } } }, 'testEvent', onPage],
];

describe('a call of Jitsu', () => {
  it.each(EVENTS)('%s becomes what its own destination would send', (_, fields, event, expected) => {
    const outcome = map({
      ...times,
      userId: 'one@example.com',
      anonymousId: 'a-1',
      messageId: '77777777-0000-4000-8000-0000000000aa',
      context: { ...visit, traits },
      ...fields,
    });
    expect(outcome).toMatchObject({
      kind: 'mapped',
      events: [
        {
          event,
          uuid: '77777777-0000-4000-8000-0000000000aa',
          timestamp: times.timestamp,
          properties: { distinct_id: 'one@example.com', ...expected },
        },
      ],
      facts: [{ kind: 'pair' }, { kind: 'person', distinctId: 'one@example.com', set: traits }],
    });
  });

  it('identify feeds its person, with all of its traits', () => {
    const outcome = map({
      ...times,
      type: 'identify',
      userId: 'u-2',
      anonymousId: 'a-1',
      context: visit,
      traits,
    });
    expect(outcome).toMatchObject({
      kind: 'skipped',
      facts: [
        { kind: 'pair', anonId: 'a-1', userId: 'u-2' },
        { kind: 'person', distinctId: 'u-2', time: times.timestamp, set: traits },
      ],
    });
  });
});
