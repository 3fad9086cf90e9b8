import type { Random } from './random.ts';

/** Type and properties (JSON text) of one event of a visit. */
export interface SampleEvent {
  readonly type: string;
  readonly properties: string;
}

const PAGES = [
  ['/', 'Home'],
  ['/pricing', 'Pricing'],
  ['/docs/getting-started', 'Getting started'],
  ['/blog/größer-denken', 'Größer denken'],
  ['/app/boards/42', 'Board 42'],
] as const;
const SCREENS = ['Inbox', 'Board', 'Settings', 'プロフィール'] as const;
const SEARCHES = [
  'quarterly report',
  'naïve Bayes',
  '請求書',
  '🍕 near me',
  'line\\nbreak \\"quoted\\"',
] as const;

export function chooseEvent(platform: 'web' | 'mobile', random: Random): SampleEvent {
  const roll = random.below(100);
  if (roll < 45) return platform === 'web' ? createPageView(random) : createScreenView(random);
  if (roll < 60) {
    return {
      type: 'Item Opened',
      properties: `{"item_id":${renderSnowflake(random)},"position":${random.below(40)}}`,
    };
  }
  if (roll < 72) {
    return {
      type: '[Amplitude] Element Clicked',
      properties: `{"[Amplitude] Element Tag":"button","[Amplitude] Element Text":"Save","[Amplitude] Page URL":"https://www.example.com/app"}`,
    };
  }
  if (roll < 84) {
    return {
      type: 'Search Performed',
      properties: `{"query":"${random.pick(SEARCHES)}","results":${random.below(500)}}`,
    };
  }
  if (roll < 94) {
    return {
      type: 'Item Added',
      properties: `{"sku":"${String(random.below(100_000)).padStart(8, '0')}","price":${random.below(9_000) / 100},"tags":["new","sale"]}`,
    };
  }
  return {
    type: 'Order Completed',
    properties: `{"order_id":${renderSnowflake(random)},"revenue":${(100 + random.below(20_000)) / 100},"currency":"EUR"}`,
  };
}

function createPageView(random: Random): SampleEvent {
  const [path, title] = random.pick(PAGES);
  return {
    type: '[Amplitude] Page Viewed',
    properties: `{"[Amplitude] Page Domain":"www.example.com","[Amplitude] Page Location":"https://www.example.com${path}?utm_source=newsletter","[Amplitude] Page Path":"${path}","[Amplitude] Page Title":"${title}","[Amplitude] Page URL":"https://www.example.com${path}","utm_source":"newsletter"}`,
  };
}

function createScreenView(random: Random): SampleEvent {
  return {
    type: '[Amplitude] Screen Viewed',
    properties: `{"[Amplitude] Screen Name":"${random.pick(SCREENS)}"}`,
  };
}

/** A 19-digit id, which a double cannot hold. */
const renderSnowflake = (random: Random) =>
  `17${String(random.bits()).padStart(10, '0')}${String(random.below(10_000_000)).padStart(7, '1')}`;
