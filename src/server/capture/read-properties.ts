/** Facts of a visit that the service copies from any event to its person, latest and first. */
export const COPIED_KEYS = [
  '$app_build',
  '$app_name',
  '$app_namespace',
  '$app_version',
  '$browser',
  '$browser_version',
  '$device_type',
  '$current_url',
  '$pathname',
  '$os',
  '$os_version',
  '$referring_domain',
  '$referrer',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_name',
  'utm_term',
  'gclid',
  'gad_source',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
] as const;

/** The properties of an event that ingestion looks at. All others are only stored. */
export const READ_PROPERTIES = [
  ...COPIED_KEYS,
  '$set',
  '$set_once',
  '$unset',
  '$process_person_profile',
  'distinct_id',
  '$anon_distinct_id',
  'alias',
  '$groups',
  '$group_type',
  '$group_key',
  '$group_set',
  '$ip',
  '$sent_at',
  '$ignore_sent_at',
  'token',
] as const;

/** Others may be among them, or left out. */
export type ReadProperties = Readonly<Partial<Record<(typeof READ_PROPERTIES)[number], unknown>>>;
