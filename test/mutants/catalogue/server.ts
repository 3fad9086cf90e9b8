import type { Mutant } from '../mutant.ts';

export const SERVER_MUTANTS: readonly Mutant[] = [
  {
    id: 'N12',
    what: 'uuids of all projects count as stored',
    file: 'src/server/capture/ingest/known-store.ts',
    edits: [
      ['where e.project_id = ${projectId} and e.uuid', 'where ${projectId}::integer is not null and e.uuid'],
    ],
    tests: ['test/server/capture/same-row.test.ts'],
  },
  {
    id: 'A1',
    what: 'any one scope suffices instead of all',
    file: 'src/server/auth/access.ts',
    edits: [
      [
        'const missing = needed.find((scope) => !grants(key.scopes, scope));',
        'const missing = needed.every((scope) => !grants(key.scopes, scope)) ? needed[0] : undefined;',
      ],
    ],
    tests: ['test/server/auth'],
  },
  {
    id: 'A10',
    what: 'keys stored in plain text',
    file: 'src/server/auth/keys.ts',
    edits: [
      [
        `return \`sha256$\${createHash('sha256').update(token).digest('hex')}\`;`,
        `return createHash('sha256') && \`sha256$\${token}\`;`,
      ],
    ],
    tests: ['test/server/auth'],
  },
  {
    id: 'A12',
    what: '61st request in a window admitted',
    file: 'src/server/auth/throttle.ts',
    edits: [['used >= perMinute', 'used > perMinute']],
    tests: ['test/server/auth'],
  },
  {
    id: 'A2',
    what: 'project restriction of a key ignored',
    file: 'src/server/auth/access.ts',
    edits: [['key.projectIds !== null && !key.projectIds.includes(project.id)', 'false']],
    tests: ['test/server/auth'],
  },
  {
    id: 'B3',
    what: 'delete queues no events',
    file: 'src/server/persons/change-person.ts',
    edits: [['    if (withEvents) {', '    if (false) {']],
    tests: ['test/server/persons'],
  },
  {
    id: 'B8',
    what: 'quotes not doubled',
    file: 'src/server/http/csv.ts',
    edits: [[`safe.replaceAll('"', '""')`, 'safe']],
    tests: ['test/server/http'],
  },
  {
    id: 'F1',
    what: 'negation false for missing properties',
    file: 'src/server/query/compile-property.ts',
    edits: [
      [
        'negated ? sql`not coalesce(${condition}, false)`',
        'negated ? sql`coalesce(not ${condition}, false)`',
      ],
    ],
    tests: ['test/server/query'],
  },
  {
    id: 'H5',
    what: 'a page that is off still opens',
    file: 'src/server/dashboards/sharing/store.ts',
    edits: [['and s.enabled and not d.deleted', 'and not d.deleted']],
    tests: ['test/server/dashboards/sharing'],
  },
  {
    id: 'H6',
    what: 'page of a deleted dashboard still opens',
    file: 'src/server/dashboards/sharing/store.ts',
    edits: [['and s.enabled and not d.deleted', 'and s.enabled']],
    tests: ['test/server/dashboards/sharing'],
  },
  {
    id: 'N1',
    what: 'skew correction sign swapped',
    file: 'src/server/capture/request/event-time.ts',
    edits: [['nowMs + (timeMs - sentAtMs)', 'nowMs - (timeMs - sentAtMs)']],
    tests: ['test/server/capture/request'],
  },
  {
    id: 'N14',
    what: 'cohort memberships lost in a merge',
    file: 'src/server/capture/ingest/person-store.ts',
    edits: [['      select m.cohort_id, t.survivor', '      select m.cohort_id, t.ended']],
    tests: ['test/server/cohorts'],
  },
  {
    id: 'N5',
    what: 'item distinct_id before properties',
    file: 'src/server/capture/request/parse-event.ts',
    edits: [
      ['Object.hasOwn(properties, key) ? properties : item', 'Object.hasOwn(item, key) ? item : properties'],
    ],
    tests: ['test/server/capture/request'],
  },
  {
    id: 'N6',
    what: 'identified person merged without force',
    file: 'src/server/capture/ingest/plan-persons.ts',
    edits: [['other.isIdentified && !force', 'other.isIdentified && force']],
    tests: ['test/server/capture/ingest'],
  },
  {
    id: 'N7',
    what: 'survivor loses: other properties win',
    file: 'src/server/capture/ingest/plan-persons.ts',
    edits: [['if (properties.has(key)) continue;', '']],
    tests: ['test/server/capture/ingest'],
  },
  {
    id: 'N8',
    what: 'created_at of the older person lost',
    file: 'src/server/capture/ingest/plan-persons.ts',
    edits: [['if (other.createdAt < survivor.createdAt) survivor.createdAt = other.createdAt;', '']],
    tests: ['test/server/capture/ingest'],
  },
  {
    id: 'Q12',
    what: 'range ends a day early',
    file: 'src/server/query/date-range.ts',
    edits: [[`end.startOf('day').plus({ days: 1 })`, `end.startOf('day')`]],
    tests: ['test/server/query'],
  },
  {
    id: 'Q6',
    what: 'same event counts for two equal steps',
    file: 'src/server/insights/funnel/facts.ts',
    edits: [['isSameEntity(before, entity) ? later : since', 'isSameEntity(before, entity) ? since : since']],
    tests: ['test/server/insights/funnel'],
  },
  {
    id: 'PN1',
    what: 'a list holds every status of a lifecycle',
    file: 'src/server/insights/lifecycle/store.ts',
    edits: [['where status = ${point.status}::text and', 'where ${point.status}::text is not null and']],
    tests: ['test/server/actors'],
  },
  {
    id: 'PN2',
    what: 'who was lost before a step are those who reached it and no further',
    file: 'src/server/insights/funnel/actors.ts',
    edits: [['[-asked - 1]', '[-asked]']],
    tests: ['test/server/actors'],
  },
  {
    id: 'PN3',
    what: 'a list of a trend begins with the range instead of the interval',
    file: 'src/server/insights/trends/actors-store.ts',
    edits: [['if (firstOnly) return', 'if (firstOnly || buckets !== undefined) return']],
    tests: ['test/server/actors'],
  },
  {
    id: 'PN4',
    what: 'an event of the moment of the first step correlates',
    file: 'src/server/insights/correlation/store.ts',
    edits: [['others.at > facts.at[1]', 'others.at >= facts.at[1]']],
    tests: ['test/server/actors'],
  },
  {
    id: 'PN5',
    what: 'an id without a person shares the name of a person',
    file: 'src/server/insights/events-store.ts',
    edits: [[`'d' || e.distinct_id`, 'e.distinct_id']],
    tests: ['test/server/actors'],
  },
  {
    id: 'PN6',
    what: 'whoever continues from an item counts as lost there',
    file: 'src/server/insights/paths/store.ts',
    edits: [
      [
        '[sql`${TARGET} = ${end}::text`, sql`(ends or step = ${query.stepLimit}::integer)`]',
        '[sql`${TARGET} = ${end}::text`]',
      ],
    ],
    tests: ['test/server/actors'],
  },
  {
    id: 'X5',
    what: 'one batch only',
    file: 'src/server/deletions/run-deletions.ts',
    edits: [['        full = count >= batchEvents;', '        full = false;']],
    tests: ['test/server/deletions'],
  },
  {
    id: 'N11',
    what: 'stored rows are not left out: retries change persons',
    file: 'src/server/capture/ingest/event-store.ts',
    edits: [
      [
        '  return dropRows(events, released ? await findStored(tx, projectId, events) : stored);',
        '  return released ? events : [...events];',
      ],
    ],
    tests: ['test/server/capture/ingest'],
  },
  {
    id: 'N20',
    what: 'events are told apart by their uuid alone',
    file: 'src/server/capture/same-row.ts',
    edits: [
      [
        'row.event === event && row.distinctId === distinctId && row.day === toDay(timestamp)',
        'row.event === event || row.distinctId === distinctId || row.day === toDay(timestamp) || true',
      ],
    ],
    tests: ['test/server/capture/same-row.test.ts'],
  },
  {
    id: 'DOERS-1',
    what: 'on the embedded database, who did something once counts as having done it often enough',
    file: 'src/server/query/compile-behaviour.ts',
    edits: [['${times === undefined ? sql`` : sql`having sum(times) ${compare(times)}`}', '']],
    tests: ['test/server/insights/behaviours.test.ts'],
  },
];
