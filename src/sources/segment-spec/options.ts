import { z } from 'zod';
import { dropEvents, dropIp, listUnheededPlaces } from '../common-options.ts';
import type { WithGeoip } from '../source.ts';

/** What the manifest may set for an archive of calls. */
export const callOptions = z.strictObject({
  dropEvents: dropEvents.describe(
    'Names of track events that are not imported; `$pageview` means all page calls and `$screen` for all screen calls. Counted as skipped (excluded_by_manifest). Which ids belong to one person is still read from them; what else they say of persons and groups is left behind.',
  ),
  dropIp,
  groupType: z
    .string()
    .min(1)
    .optional()
    .describe('Group type of every group call and of `context.groupId`. Default: `company`.'),
  contextFields: z
    .enum(['keep', 'drop'])
    // No default: a migration that began before there was this option is not another one.
    .optional()
    .describe(
      'What becomes of fields of `context` that have no property of their own at the destination: `keep` sends them as `context_<path>`, `drop` leaves them behind. Default: `keep`.',
    ),
});
export type CallOptions = z.infer<typeof callOptions>;

/** Earlier versions leave these fields behind, whatever is asked for. */
export const listUnheededOfCalls = (options: CallOptions & WithGeoip, version: number): string[] => [
  ...listUnheededPlaces(options, version),
  ...(version < 3 && options.contextFields === 'keep' ? ['contextFields'] : []),
];
