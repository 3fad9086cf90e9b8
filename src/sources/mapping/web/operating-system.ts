import { remember } from '../../../lib/remember.ts';

/** An operating system as live clients spell it, and the version that was written behind its name. */
export interface OperatingSystem {
  readonly name: string;
  readonly version: string | undefined;
}

/**
 * How a text that names a system begins -> its name at live clients.
 * https://github.com/PostHog/posthog-js (detectOS); phones: https://github.com/PostHog/posthog-ios, posthog-android
 */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^(?:apple )?(?:iphone os|ipad ?os|ios)\b/i, 'iOS'],
  [/^(?:apple )?watch ?os\b/i, 'watchOS'],
  [/^(?:apple )?tv ?os\b/i, 'tvOS'],
  [/^(?:apple )?vision ?os\b/i, 'visionOS'],
  [/^(?:apple )?(?:mac ?os ?x|mac ?os|os ?x|macintosh|macintel|mac|darwin)(?![a-z])/i, 'Mac OS X'],
  [/^android\b/i, 'Android'],
  [/^windows phone\b/i, 'Windows Phone'],
  [/^(?:microsoft )?(?:windows|win(?:32|64)?)(?![a-z])/i, 'Windows'],
  [/^(?:chrome ?os|chromium ?os|cros)\b/i, 'Chrome OS'],
  [/^(?:gnu\/linux|linux|ubuntu|debian|fedora|centos|red hat|suse|opensuse|arch linux|mint)\b/i, 'Linux'],
];

/** Undefined where the text names no system that live clients know. */
export function readOperatingSystem(text: string): OperatingSystem | undefined {
  const trimmed = text.trim();
  for (const [pattern, name] of SPELLINGS) {
    const match = pattern.exec(trimmed);
    if (!match) continue;
    const version = /^[ /]+v?(\d[\w.]*)$/.exec(trimmed.slice(match[0].length))?.[1];
    return { name, version };
  }
  return undefined;
}

const REMEMBERED = 2_000;

const ANDROID_MAKERS =
  /^(?:samsung|google pixel|pixel|nexus|huawei|honor|xiaomi|redmi|poco|oneplus|oppo|realme|vivo|motorola|moto|lg|sony|htc|asus|zte|tecno|infinix|nothing|lenovo tab)\b|\bgalaxy\b/i;

/**
 * What runs on a device, where an export names the device alone: `Apple iPhone`, `Samsung Galaxy S`.
 * https://amplitude.com/docs/data/user-properties-and-events (device family)
 */
export const findSystemOfDevice = remember(REMEMBERED, (device): string | undefined => {
  if (/\b(?:iphone|ipad|ipod)/i.test(device)) return 'iOS';
  if (/\bapple watch/i.test(device)) return 'watchOS';
  if (/\b(?:imac|mac ?book|mac ?mini|mac pro)|^apple (?:arm|x86)/i.test(device)) return 'Mac OS X';
  if (/\bchromebook/i.test(device)) return 'Chrome OS';
  if (ANDROID_MAKERS.test(device)) return 'Android';
  return readOperatingSystem(device)?.name;
});
