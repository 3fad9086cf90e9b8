import { z } from 'zod';
import { dropEvents, dropIp } from '../common-options.ts';

export const amplitudeOptions = z.strictObject({
  dropEvents,
  dropIp,
  keepSessionMarkers: z
    .boolean()
    .default(false)
    .describe(
      'Import session_start and session_end as events. By default they are skipped (session_marker): the destination derives sessions from `$session_id`.',
    ),
  elementEvents: z
    .enum(['keep', 'autocapture'])
    .default('keep')
    .describe(
      'What `[Amplitude] Element Clicked` and `… Changed` become: `keep` leaves them as custom events; `autocapture` names them `$autocapture` with `$event_type`, though filters on elements find nothing, as the export holds no element chain.',
    ),
  groupTypes: z
    .array(z.string().min(1))
    .max(5)
    .optional()
    .describe(
      'Group types that become groups at the destination, which takes five a project and ignores a sixth. Default: all of them. Values of the others stay on the event as `amplitude_other_groups`.',
    ),
  userPropertiesOnEvents: z
    .boolean()
    .default(false)
    .describe(
      'Also keep the snapshot of user properties that Amplitude stored with each event, as `amplitude_user_properties`. Makes events about twice as large.',
    ),
});
export type AmplitudeOptions = z.infer<typeof amplitudeOptions>;
