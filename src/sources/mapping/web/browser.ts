/**
 * Names that parsers of user agents give browsers, in lower case -> the name at live clients.
 * https://github.com/ua-parser/uap-core (what exports hold), https://github.com/PostHog/posthog-js (detectBrowser)
 */
const SPELLINGS: Readonly<Record<string, string>> = {
  'android browser': 'Android Mobile',
  'chrome mobile': 'Chrome',
  'chrome mobile ios': 'Chrome iOS',
  'chrome mobile webview': 'Chrome',
  'chrome webview': 'Chrome',
  edge: 'Microsoft Edge',
  'edge mobile': 'Microsoft Edge',
  'firefox mobile': 'Firefox',
  ie: 'Internet Explorer',
  'ie mobile': 'Internet Explorer Mobile',
  'mobile safari ui/wkwebview': 'Mobile Safari',
  msie: 'Internet Explorer',
  'opera mobile': 'Opera',
  'safari mobile': 'Mobile Safari',
  'samsung browser': 'Samsung Internet',
  'samsung internet for android': 'Samsung Internet',
};

export function spellBrowser(name: string): string {
  const bare = name.trim().toLowerCase();
  return Object.hasOwn(SPELLINGS, bare) ? (SPELLINGS[bare] ?? name) : name;
}
