/**
 * Parameters that live clients lift from the address of a page: what an advertiser or a newsletter adds to links.
 * https://posthog.com/docs/data/utm-segmentation
 */
const UTM_PARAMETERS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'] as const;

/** By which advertisers recognise a click. https://posthog.com/docs/data/channel-type */
const CLICK_IDS = [
  'gclid',
  'gad_source',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
  'twclid',
  'li_fat_id',
  'mc_cid',
  'igshid',
  'ttclid',
  'rdt_cid',
  'epik',
  'qclid',
  'sccid',
  'irclid',
  '_kx',
] as const;

export const CAMPAIGN_PARAMETERS: readonly string[] = [...UTM_PARAMETERS, ...CLICK_IDS];

const LIFTED: ReadonlySet<string> = new Set(CAMPAIGN_PARAMETERS);

/** Those that a query has, decoded. Of one that comes twice, the first that holds a value. */
export function readCampaign(query: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    if (!LIFTED.has(name) || Object.hasOwn(found, name)) continue;
    const value = decode(pair.slice(equals + 1)).trim();
    // A NUL cannot be stored: the event would be refused for a property that its record does not have.
    if (equals !== -1 && value !== '' && !value.includes('\0')) found[name] = value;
  }
  return found;
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced; // a percent sign that escapes nothing
  }
}
