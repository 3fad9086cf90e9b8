import { parseAddress } from './address.ts';
import { parseAgent } from './agent.ts';
import { spellBrowser } from './browser.ts';
import { readCampaign } from './campaign.ts';
import { readOperatingSystem } from './operating-system.ts';

/** Properties that follow from the text of another one; those that are undefined are none. */
type Derived = Readonly<Record<string, unknown>>;

/** A row of the table of the web layer. */
export interface WebRule {
  /** The property that is read: of several the first that holds text. */
  readonly from: readonly string[];
  /** Pure. */
  readonly derive: (text: string) => Derived;
  /** Those of the derived properties that replace what is there, as another spelling of it. @default none */
  readonly respells?: readonly string[];
  /** Those of them that are a host, which many exports name without its port. @default none */
  readonly addsPort?: readonly string[];
  /** Where it is written that it is so. */
  readonly docs: string;
}

/**
 * What live clients of the destination send with every event, and exports of other vendors hold in another place.
 * A rule fills what is missing: what a record says itself is kept. In this order.
 */
export const WEB_RULES: readonly WebRule[] = [
  {
    from: ['$current_url'],
    derive(text) {
      const address = parseAddress(text);
      return address
        ? { $host: address.host, $pathname: address.pathname, ...readCampaign(address.query) }
        : {};
    },
    addsPort: ['$host'],
    docs: 'https://posthog.com/docs/product-analytics/autocapture, https://posthog.com/docs/data/utm-segmentation',
  },
  {
    from: ['$referrer'],
    derive: (text) => ({ $referring_domain: readReferringDomain(text) }),
    docs: 'https://posthog.com/docs/data/channel-type',
  },
  {
    // The service's own parser reads the last three names; its browser client sends the first.
    from: ['$raw_user_agent', '$useragent', '$user_agent', '$user-agent'],
    derive: (text) => ({ ...parseAgent(text) }),
    docs: 'https://posthog.com/docs/cdp/user-agent-plugin, https://github.com/PostHog/posthog-js',
  },
  {
    from: ['$browser'],
    derive: (text) => ({ $browser: spellBrowser(text) }),
    respells: ['$browser'],
    docs: 'https://github.com/PostHog/posthog-js (detectBrowser)',
  },
  {
    from: ['$os'],
    derive(text) {
      const system = readOperatingSystem(text);
      return system ? { $os: system.name, $os_version: system.version } : {};
    },
    respells: ['$os'],
    docs: 'https://github.com/PostHog/posthog-js (detectOS)',
  },
];

/** What stands for the referrer of a page that no other page led to. https://posthog.com/docs/data/channel-type */
export const DIRECT = '$direct';

/** Undefined where the text is no address. */
export const readReferringDomain = (referrer: string): string | undefined =>
  referrer === DIRECT ? DIRECT : parseAddress(referrer)?.host;
