/**
 * The contract's endpoints, row by row, as data: what clients of the service may count on. A test holds
 * the document and the running service against it. `:project_id` and the like are path parameters.
 */
export interface ContractEndpoint {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Scopes that a personal key needs, all of them; none: a project key in the body. */
  readonly scopes: readonly string[];
  /** The contract names no scope for this row; `scopes` is our choice. */
  readonly scopesNotShown?: true;
  /** Types of the path parameters that are not text. */
  readonly pathTypes?: Readonly<Record<string, 'integer' | 'uuid'>>;
  readonly query?: readonly string[];
  readonly body?: readonly string[];
  readonly status: number;
  /** Members of the answer's object, at least; `results` holds them where `paged` is set. */
  readonly fields?: readonly string[];
  readonly paged?: true;
  /** The answer carries no body. */
  readonly empty?: true;
}

const PROJECT = '/api/projects/:project_id';

const DASHBOARD_BODY = [
  'name',
  'description',
  'pinned',
  'deleted',
  'use_template',
  'use_dashboard',
  'delete_insights',
  'filters',
  'tags',
  'restriction_level',
];
const DASHBOARD_LISTED = [
  'id',
  'name',
  'description',
  'pinned',
  'created_at',
  'created_by',
  'is_shared',
  'deleted',
  'creation_mode',
  'tags',
  'restriction_level',
  'effective_restriction_level',
  'effective_privilege_level',
];
const DASHBOARD = [
  ...DASHBOARD_LISTED,
  'use_template',
  'use_dashboard',
  'delete_insights',
  'filters',
  'tiles',
];
const COLLABORATOR = ['id', 'dashboard_id', 'user', 'level', 'added_at', 'updated_at', 'user_uuid'];
const PERSON = ['id', 'name', 'distinct_ids', 'properties', 'created_at', 'uuid'];

const integerId = { pathTypes: { id: 'integer' } } as const;
const dashboardId = { pathTypes: { dashboard_id: 'integer' } } as const;
const format = ['format'];
/** A person endpoint whose scope the contract leaves open: reading takes this one. */
const readsPersons = { scopes: ['person:read'], scopesNotShown: true } as const;
const writesPersons = { scopes: ['person:write'], scopesNotShown: true } as const;

export const CONTRACT_ENDPOINTS: readonly ContractEndpoint[] = [
  {
    method: 'GET',
    path: `${PROJECT}/dashboards/`,
    scopes: ['dashboard:read'],
    query: ['limit', 'offset'],
    status: 200,
    paged: true,
    fields: DASHBOARD_LISTED,
  },
  {
    method: 'POST',
    path: `${PROJECT}/dashboards/`,
    scopes: ['dashboard:write'],
    body: DASHBOARD_BODY,
    status: 201,
    fields: DASHBOARD,
  },
  {
    method: 'GET',
    path: `${PROJECT}/dashboards/:id/`,
    scopes: ['dashboard:read'],
    ...integerId,
    status: 200,
    fields: DASHBOARD,
  },
  {
    method: 'PATCH',
    path: `${PROJECT}/dashboards/:id/`,
    scopes: ['dashboard:write'],
    ...integerId,
    body: DASHBOARD_BODY,
    status: 200,
    fields: DASHBOARD,
  },
  {
    method: 'DELETE',
    path: `${PROJECT}/dashboards/:id/`,
    scopes: ['dashboard:write'],
    ...integerId,
    status: 405,
    empty: true,
  },
  {
    method: 'PATCH',
    path: `${PROJECT}/dashboards/:id/move_tile/`,
    scopes: ['dashboard:write'],
    scopesNotShown: true,
    ...integerId,
    body: DASHBOARD_BODY,
    status: 200,
    fields: DASHBOARD,
  },
  {
    method: 'POST',
    path: `${PROJECT}/dashboards/create_from_template_json/`,
    scopes: ['dashboard:write'],
    scopesNotShown: true,
    body: DASHBOARD_BODY,
    status: 200,
    fields: DASHBOARD,
  },
  {
    method: 'GET',
    path: `${PROJECT}/dashboards/:dashboard_id/collaborators/`,
    scopes: ['dashboard:read'],
    ...dashboardId,
    status: 200,
  },
  {
    method: 'POST',
    path: `${PROJECT}/dashboards/:dashboard_id/collaborators/`,
    scopes: ['dashboard:write'],
    ...dashboardId,
    body: ['level', 'user_uuid'],
    status: 201,
    fields: COLLABORATOR,
  },
  {
    method: 'DELETE',
    path: `${PROJECT}/dashboards/:dashboard_id/collaborators/:user__uuid/`,
    scopes: ['dashboard:write'],
    ...dashboardId,
    status: 204,
    empty: true,
  },
  {
    method: 'GET',
    path: `${PROJECT}/dashboards/:dashboard_id/sharing/`,
    scopes: ['sharing_configuration:read'],
    ...dashboardId,
    status: 200,
    fields: ['created_at', 'enabled', 'access_token'],
  },
  {
    method: 'GET',
    path: `${PROJECT}/persons/`,
    scopes: ['person:read'],
    query: ['distinct_id', 'email', 'format', 'limit', 'offset', 'properties', 'search'],
    status: 200,
    paged: true,
    fields: PERSON,
  },
  {
    method: 'GET',
    path: `${PROJECT}/persons/:id/`,
    scopes: ['person:read'],
    ...integerId,
    query: format,
    status: 200,
    fields: PERSON,
  },
  {
    method: 'PATCH',
    path: `${PROJECT}/persons/:id/`,
    scopes: ['person:write'],
    ...integerId,
    query: format,
    body: ['properties'],
    status: 200,
    fields: PERSON,
  },
  {
    method: 'DELETE',
    path: `${PROJECT}/persons/:id/`,
    scopes: ['person:write'],
    ...integerId,
    query: ['delete_events', 'format'],
    status: 204,
    empty: true,
  },
  {
    method: 'GET',
    path: `${PROJECT}/persons/:id/activity/`,
    scopes: ['activity_log:read'],
    ...integerId,
    query: format,
    status: 200,
  },
  {
    method: 'POST',
    path: `${PROJECT}/persons/:id/delete_property/`,
    ...writesPersons,
    ...integerId,
    query: ['$unset', 'format'],
    body: ['properties'],
    status: 200,
  },
  {
    method: 'GET',
    path: `${PROJECT}/persons/:id/properties_timeline/`,
    ...readsPersons,
    ...integerId,
    query: format,
    status: 200,
    fields: ['points', 'crucial_property_keys', 'effective_date_from', 'effective_date_to'],
  },
  {
    method: 'POST',
    path: `${PROJECT}/persons/:id/split/`,
    ...writesPersons,
    ...integerId,
    query: format,
    body: ['properties'],
    status: 200,
  },
  {
    method: 'POST',
    path: `${PROJECT}/persons/:id/update_property/`,
    ...writesPersons,
    ...integerId,
    query: ['key', 'value', 'format'],
    body: ['properties'],
    status: 200,
  },
  {
    method: 'GET',
    path: `${PROJECT}/persons/activity/`,
    scopes: ['activity_log:read'],
    scopesNotShown: true,
    query: format,
    status: 200,
  },
  {
    method: 'GET',
    path: `${PROJECT}/persons/cohorts/`,
    scopes: ['person:read', 'cohort:read'],
    query: format,
    status: 200,
  },
  ...analytics('GET', 'funnel'),
  ...analytics('POST', 'funnel'),
  ...analytics('GET', 'funnel/correlation'),
  ...analytics('POST', 'funnel/correlation'),
  ...analytics('GET', 'lifecycle'),
  ...analytics('GET', 'path'),
  ...analytics('POST', 'path'),
  ...analytics('GET', 'retention'),
  ...analytics('GET', 'stickiness'),
  ...analytics('GET', 'trends'),
  {
    method: 'GET',
    path: `${PROJECT}/persons/values/`,
    ...readsPersons,
    query: format,
    status: 200,
  },
  {
    method: 'GET',
    path: `${PROJECT}/event_definitions/`,
    scopes: ['event_definition:read'],
    status: 200,
  },
  {
    method: 'GET',
    path: `${PROJECT}/event_definitions/:id/`,
    scopes: ['event_definition:read'],
    pathTypes: { id: 'uuid' },
    status: 200,
  },
  {
    method: 'PATCH',
    path: `${PROJECT}/event_definitions/:id/`,
    scopes: ['event_definition:write'],
    pathTypes: { id: 'uuid' },
    status: 200,
  },
  {
    method: 'DELETE',
    path: `${PROJECT}/event_definitions/:id/`,
    scopes: ['event_definition:write'],
    pathTypes: { id: 'uuid' },
    status: 204,
    empty: true,
  },
  {
    method: 'POST',
    path: '/decide',
    scopes: [],
    query: ['v'],
    body: ['api_key', 'distinct_id', 'groups', 'person_properties', 'group_properties'],
    status: 200,
    fields: [
      'config',
      'toolbarParams',
      'errorComputingFlags',
      'isAuthenticated',
      'supportedCompression',
      'featureFlags',
      'featureFlagPayloads',
    ],
  },
  {
    method: 'POST',
    path: '/capture/',
    scopes: [],
    body: ['api_key', 'event', 'distinct_id', 'properties'],
    status: 200,
  },
  {
    method: 'POST',
    path: '/batch/',
    scopes: [],
    body: ['api_key', 'historical_migration', 'batch'],
    status: 200,
  },
];

/** Persons behind an insight. The POST forms take the GET's parameters in the body too. */
function analytics(method: 'GET' | 'POST', name: string): ContractEndpoint[] {
  const endpoint = {
    method,
    path: `${PROJECT}/persons/${name}/`,
    ...readsPersons,
    query: format,
    ...(method === 'POST' ? { body: ['properties'] } : {}),
    status: 200,
    fields: name === 'retention' ? ['result', 'next'] : ['results', 'next'],
  } as const;
  return [endpoint];
}
