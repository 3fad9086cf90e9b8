import { BROWSER_MAP, parse } from 'bowser';
import { spellBrowser } from './browser.ts';
import { type DeviceType, readDeviceType } from './device-type.ts';
import { readOperatingSystem } from './operating-system.ts';

/**
 * The parser of user agents, pinned with a migration: another release of it may find another browser in the same
 * text. A test compares it with what is installed.
 */
export const AGENT_PARSER = 'bowser@2.15.0';

/** Live clients cut them there, too. https://github.com/PostHog/posthog-js */
const LONGEST_AGENT = 1_000;

/** What the text of a user agent says; absent where it says nothing. */
export interface Agent {
  readonly $browser?: string | undefined;
  /** Major and minor number, as live clients send it. */
  readonly $browser_version?: number | undefined;
  readonly $os?: string | undefined;
  readonly $os_version?: string | undefined;
  readonly $device_type?: string | undefined;
}

export function parseAgent(text: string): Agent {
  const agent = text.trim().slice(0, LONGEST_AGENT);
  if (agent === '') return {};
  const { browser: found, os, platform } = parse(agent);
  // Of what it does not know the parser gives the first word, and apps on Android it takes for its browser.
  const isBrowser = KNOWN_BROWSERS.has(found.name ?? '') && !APP.test(agent);
  const browser = isBrowser ? found : {};
  // Neither a visitor nor a device.
  if (platform.type === 'bot') return browser.name === undefined ? {} : { $browser: browser.name };
  const system = os.name === undefined ? undefined : (readOperatingSystem(os.name)?.name ?? os.name);
  return {
    $browser: toBrowser(browser.name ?? '', system, agent),
    $browser_version: readVersion(browser.version),
    $os: system,
    $os_version: toSystemVersion(system, os),
    $device_type: toDeviceType(platform.type ?? '', system, agent),
  };
}

const KNOWN_BROWSERS: ReadonlySet<string> = new Set(Object.values(BROWSER_MAP));

/** What Android's own HTTP client calls itself. https://source.android.com/docs/core/runtime */
const APP = /^Dalvik\//;

/** https://github.com/PostHog/posthog-js (detectBrowser) */
const ON_IOS: Readonly<Record<string, string>> = {
  Chrome: 'Chrome iOS',
  Firefox: 'Firefox iOS',
  Safari: 'Mobile Safari',
};

function toBrowser(name: string, system: string | undefined, agent: string): string | undefined {
  if (agent.includes('FBIOS')) return 'Facebook Mobile';
  if (name === 'Opera' && agent.includes('Mini')) return 'Opera Mini';
  if (name === 'Internet Explorer' && agent.includes('IEMobile')) return 'Internet Explorer Mobile';
  const spelled = (system === 'iOS' ? ON_IOS[name] : undefined) ?? spellBrowser(name);
  return spelled === '' ? undefined : spelled;
}

function readVersion(version: string | undefined): number | undefined {
  const match = /^\d+(?:\.\d+)?/.exec(version ?? '');
  return match ? Number(match[0]) : undefined;
}

/** `10` for NT 10.0; Apple's always have three numbers. https://github.com/PostHog/posthog-js (detectOS) */
function toSystemVersion(
  system: string | undefined,
  {
    version,
    versionName,
  }: { readonly version?: string | undefined; readonly versionName?: string | undefined },
): string | undefined {
  // The parser leaves it empty where the agent names a system alone.
  if (version === undefined || version === '') return undefined;
  if (system === 'Windows') return versionName ?? version;
  if (system !== 'iOS' && system !== 'Mac OS X') return version;
  return /^\d+\.\d+$/.test(version) ? `${version}.0` : version;
}

const DEVICE_TYPES: Readonly<Record<string, DeviceType>> = { mobile: 'Mobile', tablet: 'Tablet', tv: 'TV' };

/** The parser takes consoles for televisions and every app on Android for one of a tablet, and knows no type of Chrome OS. */
function toDeviceType(platform: string, system: string | undefined, agent: string): DeviceType | undefined {
  if (APP.test(agent)) return readDeviceType(agent);
  if (/xbox|playstation|nintendo/i.test(agent)) return 'Console';
  if (system === undefined) return undefined;
  return DEVICE_TYPES[platform] ?? (/watch/i.test(agent) ? 'Wearable' : 'Desktop');
}
