import type { Scope } from '../../../src/server/auth/scopes.ts';

/**
 * What each route is expected to require, written out a second time: a scope that changes on a route must
 * change here too. Every scope of a row is needed; none: any valid key.
 */
export const EXPECTED_ACCESS: Readonly<Record<string, readonly Scope[]>> = {
  'GET /api/projects/': [],
  'GET /api/projects/:project_id/': [],
  'POST /api/projects/': ['*'],
  'PATCH /api/projects/:project_id/': ['*'],
  'POST /api/projects/:project_id/reset_token/': ['*'],
  'GET /api/personal_api_keys/': ['*'],
  'POST /api/personal_api_keys/': ['*'],
  'GET /api/personal_api_keys/@current/': [],
  'DELETE /api/personal_api_keys/:id/': ['*'],
  'GET /api/users/': ['*'],
  'POST /api/users/': ['*'],
  'GET /api/users/@me/': [],
  'GET /api/organizations/:organization_id/members/': ['*'],
  'PATCH /api/organizations/:organization_id/members/:user__uuid/': ['*'],
  'DELETE /api/organizations/:organization_id/members/:user__uuid/': ['*'],
  'GET /api/projects/:project_id/dashboards/': ['dashboard:read'],
  'POST /api/projects/:project_id/dashboards/': ['dashboard:write'],
  'GET /api/projects/:project_id/dashboards/:id/': ['dashboard:read'],
  'PATCH /api/projects/:project_id/dashboards/:id/': ['dashboard:write'],
  'DELETE /api/projects/:project_id/dashboards/:id/': ['dashboard:write'],
  'PATCH /api/projects/:project_id/dashboards/:id/move_tile/': ['dashboard:write'],
  'POST /api/projects/:project_id/dashboards/create_from_template_json/': ['dashboard:write'],
  'GET /api/projects/:project_id/dashboards/:dashboard_id/collaborators/': ['dashboard:read'],
  'POST /api/projects/:project_id/dashboards/:dashboard_id/collaborators/': ['dashboard:write'],
  'DELETE /api/projects/:project_id/dashboards/:dashboard_id/collaborators/:user__uuid/': ['dashboard:write'],
  'GET /api/projects/:project_id/dashboards/:dashboard_id/sharing/': ['sharing_configuration:read'],
  'PATCH /api/projects/:project_id/dashboards/:dashboard_id/sharing/': ['sharing_configuration:write'],
  'GET /api/projects/:project_id/feature_flags/': ['feature_flag:read'],
  'POST /api/projects/:project_id/feature_flags/': ['feature_flag:write'],
  'POST /api/projects/:project_id/feature_flags/take_over/': ['feature_flag:write', 'cohort:write'],
  'GET /api/projects/:project_id/feature_flags/:id/': ['feature_flag:read'],
  'PATCH /api/projects/:project_id/feature_flags/:id/': ['feature_flag:write'],
  'POST /api/projects/:project_id/feature_flags/:key/test/': ['feature_flag:read', 'person:read'],
  'GET /api/projects/:project_id/feature_flags/:key/remote_config/': ['feature_flag:read'],
  'GET /api/feature_flag/local_evaluation/': ['feature_flag:read'],
  'GET /api/projects/:project_id/insights/': ['insight:read'],
  'POST /api/projects/:project_id/insights/': ['insight:write'],
  'GET /api/projects/:project_id/insights/:id/': ['insight:read'],
  'PATCH /api/projects/:project_id/insights/:id/': ['insight:write'],
  'GET /api/projects/:project_id/persons/': ['person:read'],
  'POST /api/projects/:project_id/persons/': ['person:write'],
  'GET /api/projects/:project_id/persons.csv': ['person:read'],
  'GET /api/projects/:project_id/persons/activity/': ['activity_log:read'],
  'GET /api/projects/:project_id/persons/cohorts/': ['person:read', 'cohort:read'],
  'GET /api/projects/:project_id/persons/values/': ['person:read'],
  'GET /api/projects/:project_id/persons/funnel/': ['person:read'],
  'POST /api/projects/:project_id/persons/funnel/': ['person:read'],
  'GET /api/projects/:project_id/persons/lifecycle/': ['person:read'],
  'GET /api/projects/:project_id/persons/retention/': ['person:read'],
  'GET /api/projects/:project_id/persons/stickiness/': ['person:read'],
  'GET /api/projects/:project_id/persons/trends/': ['person:read'],
  'GET /api/projects/:project_id/persons/funnel/correlation/': ['person:read'],
  'POST /api/projects/:project_id/persons/funnel/correlation/': ['person:read'],
  'GET /api/projects/:project_id/insights/funnel/correlation/': ['insight:read'],
  'POST /api/projects/:project_id/insights/funnel/correlation/': ['insight:read'],
  'GET /api/projects/:project_id/persons/path/': ['person:read'],
  'POST /api/projects/:project_id/persons/path/': ['person:read'],
  'GET /api/projects/:project_id/persons/:id/properties_timeline/': ['person:read'],
  'GET /api/projects/:project_id/persons/:id/': ['person:read'],
  'PATCH /api/projects/:project_id/persons/:id/': ['person:write'],
  'DELETE /api/projects/:project_id/persons/:id/': ['person:write'],
  'GET /api/projects/:project_id/persons/:id/activity/': ['activity_log:read'],
  'POST /api/projects/:project_id/persons/:id/delete_property/': ['person:write'],
  'POST /api/projects/:project_id/persons/:id/split/': ['person:write'],
  'POST /api/projects/:project_id/persons/:id/update_property/': ['person:write'],
  'GET /api/projects/:project_id/event_definitions/': ['event_definition:read'],
  'GET /api/projects/:project_id/event_definitions/:id/': ['event_definition:read'],
  'PATCH /api/projects/:project_id/event_definitions/:id/': ['event_definition:write'],
  'DELETE /api/projects/:project_id/event_definitions/:id/': ['event_definition:write'],
  'GET /api/projects/:project_id/actions/': ['action:read'],
  'POST /api/projects/:project_id/actions/': ['action:write'],
  'GET /api/projects/:project_id/actions/:id/': ['action:read'],
  'PATCH /api/projects/:project_id/actions/:id/': ['action:write'],
  'GET /api/projects/:project_id/cohorts/': ['cohort:read'],
  'POST /api/projects/:project_id/cohorts/': ['cohort:write'],
  'GET /api/projects/:project_id/cohorts/:id/': ['cohort:read'],
  'PATCH /api/projects/:project_id/cohorts/:id/': ['cohort:write'],
  'PATCH /api/projects/:project_id/cohorts/:id/add_persons_to_static_cohort/': ['cohort:write'],
  'PATCH /api/projects/:project_id/cohorts/:id/remove_persons_from_static_cohort/': ['cohort:write'],
  'GET /api/projects/:project_id/event_counts/': ['query:read'],
  'GET /api/projects/:project_id/events/': ['query:read'],
  'GET /api/projects/:project_id/events/ids.ndjson': ['query:read'],
  'GET /api/deletions/': ['*'],
  'POST /api/deletions/run/': ['*'],
  'GET /api/deletions/run/:job_id/': ['*'],
};

/** Everything that takes no personal key, with what opens it. */
/** Routes below `/api/` that take the project key in the query. */
export const EXPECTED_PROJECT_KEY: readonly string[] = [
  '/api/early_access_features/',
  '/api/surveys/',
  '/api/web_experiments/',
].flatMap((path) => [`GET ${path}`, `OPTIONS ${path}`]);

export const EXPECTED_PUBLIC: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['/batch/', '/capture/', '/e/', '/engage/', '/i/v0/e/', '/track/'].flatMap((path) =>
      ['GET', 'POST', 'OPTIONS'].map((method) => [`${method} ${path}`, 'the project key in the body']),
    ),
  ),
  ...Object.fromEntries(
    ['/decide', '/flags/'].flatMap((path) =>
      ['GET', 'POST', 'OPTIONS'].map((method) => [`${method} ${path}`, 'the project key in the body']),
    ),
  ),
  ...Object.fromEntries(
    ['/array/:token/config', '/array/:token/config.js'].flatMap((path) =>
      ['GET', 'OPTIONS'].map((method) => [`${method} ${path}`, 'the project key in the path']),
    ),
  ),
  ...Object.fromEntries(
    ['/shared/', '/embedded/'].flatMap((place) =>
      [':token/', ':file{[\\w-]+\\.json}'].map((rest) => [
        `GET ${place}${rest}`,
        'the access token of a dashboard that is shared',
      ]),
    ),
  ),
  ...Object.fromEntries(
    [
      '/docs',
      '/docs/',
      '/docs/start.js',
      '/docs/swagger-ui.css',
      '/docs/swagger-ui-bundle.js',
      '/docs/favicon-32x32.png',
      '/openapi.json',
    ].map((path) => [`GET ${path}`, 'open: describes the API']),
  ),
  'GET /healthz': 'open: reports whether the API is well',
};
