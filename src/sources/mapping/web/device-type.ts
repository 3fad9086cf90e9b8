import { remember } from '../../../lib/remember.ts';
import { findSystemOfDevice, readOperatingSystem } from './operating-system.ts';

/** As live clients spell them. https://github.com/PostHog/posthog-js (detectDeviceType), posthog-ios (`TV`) */
export type DeviceType = 'Mobile' | 'Tablet' | 'Desktop' | 'Console' | 'Wearable' | 'TV';

/** What a text that names a device or its kind holds -> the kind. The first that fits counts. */
const KINDS: readonly (readonly [RegExp, DeviceType])[] = [
  [
    /\bi ?pad|\btablet|\btab\b|\bkindle|\bfire hd|\bnexus (?:7|9|10)\b|\bpixel c\b|\bme?diapad|\bmatepad|\bmi ?pad|\bsm-[tpx]\d{3}|\bplaybook/i,
    'Tablet',
  ],
  [/\bwatch|\bwearable/i, 'Wearable'],
  [/\bxbox|\bplaystation|\bnintendo|\bouya\b|\bconsole\b/i, 'Console'],
  [/\btv\b|\btvos\b|\bsmart-?tv|\bapple ?tv|\broku\b/i, 'TV'],
  [/\biphone|\bipod|\b(?:smart|mobile )?phone\b|\bsmartphone|\bmobile\b|\bhandset/i, 'Mobile'],
  [/\bdesktop|\blaptop|\bcomputer|\bpc\b|\bnotebook/i, 'Desktop'],
];

const KINDS_OF_SYSTEMS: Readonly<Record<string, DeviceType>> = {
  iOS: 'Mobile',
  Android: 'Mobile',
  'Windows Phone': 'Mobile',
  watchOS: 'Wearable',
  tvOS: 'TV',
  'Mac OS X': 'Desktop',
  Windows: 'Desktop',
  'Chrome OS': 'Desktop',
  Linux: 'Desktop',
};

const REMEMBERED = 2_000;

/** The kind that a text says by itself: `Tablet`, `SMART_TV`, `Apple iPad Pro`, `SM-T510`. */
export const readDeviceType = remember(REMEMBERED, (text) => {
  const words = text.replaceAll('_', ' ');
  // A name of a system is no kind, though one holds the word "phone".
  return /^(?:iphone os|windows phone)\b/i.test(words)
    ? undefined
    : KINDS.find(([pattern]) => pattern.test(words))?.[1];
});

/** The kind that follows from the system of a device: whatever runs `iPadOS` is a tablet, other iOS is a phone. */
export const findTypeOfSystem = remember(REMEMBERED, (text): DeviceType | undefined => {
  if (/^ipad ?os\b/i.test(text)) return 'Tablet';
  const system = findSystemOfDevice(text);
  return system === undefined ? undefined : KINDS_OF_SYSTEMS[system];
});

/** Whether the text names a platform, which some vendors write as type of a device. */
export const isPlatform = remember(
  REMEMBERED,
  (text) => /^(?:web|server|browser)$/i.test(text.trim()) || readOperatingSystem(text) !== undefined,
);
