import type { Manifest } from '../../../config/manifest/manifest.ts';

/** What the manifest of the last run asks for. Holds no secret. */
export interface Terms {
  /** Type of the source. */
  readonly source: string;
  /** ISO 8601 in UTC; `until` itself is out. Absent where all times are in. */
  readonly window?: { readonly from?: string; readonly until?: string };
  /** Absent where nothing limits the events. */
  readonly eventsPerMinute?: number;
  /** What the service calls the approved request. */
  readonly approval?: string;
  /** A share such as `1%`, or a number of rejected records. */
  readonly failAbove: string | number;
  /** `hold`: what it says about persons is kept until it is sent with that of others. */
  readonly persons: 'send' | 'hold';
  /** Whose an anonymous id of several users is. */
  readonly sharedDevices: 'none' | 'first' | 'last';
  /** Whether folded properties of persons replace live ones. */
  readonly overwrite: boolean;
}

export function toTerms({
  source,
  window,
  limits: { eventsPerMinute },
  approval,
  rejects: { failAbove },
  people: { sharedDevices = 'none', overwrite },
  persons,
}: Pick<Manifest, 'source' | 'window' | 'limits' | 'approval' | 'rejects' | 'people' | 'persons'>): Terms {
  return {
    source: source.type,
    ...(window === undefined ? {} : { window }),
    ...(eventsPerMinute === undefined ? {} : { eventsPerMinute }),
    ...(approval === undefined ? {} : { approval: approval.reference }),
    failAbove,
    persons,
    sharedDevices,
    overwrite,
  };
}
