import { createUser } from '../../../src/server/auth/users.ts';
import type { Db } from '../../../src/server/database/db.ts';
import type { ContractEndpoint } from '../../../src/server/openapi/contract-endpoints.ts';
import type { TestApi } from '../../support/api.ts';

/** A request that the contract's row answers with its success. */
export interface WalkRequest {
  readonly path: string;
  readonly body?: unknown;
}

type Ids = Readonly<Record<string, string | number>>;

/**
 * For any row of the contract: makes what the row speaks of (a person, a dashboard, …), fresh each time,
 * and the request to it.
 */
export function createContractWalk(api: TestApi, db: Db): (row: ContractEndpoint) => Promise<WalkRequest> {
  let made = 0;

  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await api.app.request(`/api/projects/${api.project.id}/${path}`, {
      method,
      headers: { authorization: `Bearer ${api.personalKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status >= 300) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  async function person(): Promise<Ids> {
    made += 1;
    const distinctId = `walker ${made}`;
    await api.send(
      {
        event: '$identify',
        distinct_id: distinctId,
        properties: {
          $anon_distinct_id: `anonymous ${made}`,
          $set: { email: `${made}@example.com`, age: made },
        },
      },
      { event: `walk ${made}`, distinct_id: distinctId },
    );
    const found = await ask<{ results: { id: number }[] }>(
      'GET',
      `persons/?distinct_id=${encodeURIComponent(distinctId)}`,
    );
    return { id: found.results[0]?.id ?? 0 };
  }

  async function dashboard(): Promise<Ids> {
    const { id } = await ask<{ id: number }>('POST', 'dashboards/', {
      name: `walk ${++made}`,
      restriction_level: 37,
    });
    return { id, dashboard_id: id };
  }

  async function withTextTile(): Promise<{ ids: Ids; tile: number }> {
    const ids = await dashboard();
    const { tiles } = await ask<{ tiles: { id: number }[] }>('PATCH', `dashboards/${ids['id']}/`, {
      tiles: [{ text: { body: 'A note' }, layouts: {} }],
    });
    return { ids, tile: tiles[0]?.id ?? 0 };
  }

  const member = () => createUser(db, { email: `walker${++made}@example.com`, firstName: 'Walker' });

  async function definition(): Promise<Ids> {
    const name = `defined ${++made}`;
    await api.send({ event: name, distinct_id: 'walker' });
    const found = await ask<{ results: { id: string }[] }>(
      'GET',
      `event_definitions/?search=${encodeURIComponent(name)}`,
    );
    return { id: found.results[0]?.id ?? '' };
  }

  const template = {
    template_name: 'From JSON',
    dashboard_description: 'One tile',
    dashboard_filters: {},
    tiles: [{ type: 'TEXT', body: 'Hello', layouts: {} }],
  };
  const steps = { events: [{ id: 'walk' }, { id: 'walk', order: 1 }] };
  const event = () => ({ event: 'walk', distinct_id: 'walker', properties: {} });

  /** What differs from a request without query and body to the object that the path names. */
  const special: Record<string, () => Promise<{ ids?: Ids; query?: string; body?: unknown }>> = {
    'GET dashboards/': async () => ({ ids: await dashboard() }),
    'POST dashboards/': async () => ({ body: { name: 'walk', use_template: 'DEFAULT_APP' } }),
    'PATCH dashboards/:id/': async () => ({ ids: await dashboard(), body: { name: 'renamed', tags: ['a'] } }),
    'PATCH dashboards/:id/move_tile/': async () => {
      const { ids, tile } = await withTextTile();
      return { ids, body: { tile: { id: tile }, toDashboard: (await dashboard())['id'] } };
    },
    'POST dashboards/create_from_template_json/': async () => ({ body: { template } }),
    'POST dashboards/:dashboard_id/collaborators/': async () => ({
      ids: await dashboard(),
      body: { level: 37, user_uuid: (await member()).uuid },
    }),
    'DELETE dashboards/:dashboard_id/collaborators/:user__uuid/': async () => {
      const ids = await dashboard();
      const { uuid } = await member();
      await ask('POST', `dashboards/${ids['id']}/collaborators/`, { level: 37, user_uuid: uuid });
      return { ids: { ...ids, user__uuid: uuid } };
    },
    'GET persons/': async () => ({ ids: await person() }),
    'PATCH persons/:id/': async () => ({ ids: await person(), body: { properties: { plan: 'x' } } }),
    'DELETE persons/:id/': async () => ({ ids: await person(), query: 'delete_events=true' }),
    'POST persons/:id/delete_property/': async () => ({ ids: await person(), query: '$unset=email' }),
    'POST persons/:id/split/': async () => ({ ids: await person(), body: {} }),
    'POST persons/:id/update_property/': async () => ({ ids: await person(), query: 'key=plan&value=x' }),
    'GET persons/cohorts/': async () => ({ query: `person_id=${(await person())['id']}` }),
    'GET persons/funnel/': async () => ({
      query: `events=${encodeURIComponent(JSON.stringify(steps.events))}&funnel_step=1`,
    }),
    'POST persons/funnel/': async () => ({ body: { ...steps, funnel_step: 1 } }),
    'GET persons/funnel/correlation/': async () => ({
      query: `events=${encodeURIComponent(JSON.stringify(steps.events))}&funnel_correlation_person_entity={"id":"run"}`,
    }),
    'POST persons/funnel/correlation/': async () => ({
      body: { ...steps, funnel_correlation_person_entity: { id: 'run' } },
    }),
    'POST persons/path/': async () => ({ body: { include_event_types: ['custom_event'] } }),
    'GET persons/lifecycle/': async () => ({
      query: `events=${encodeURIComponent('[{"id":"walk"}]')}&target_date=-1d&lifecycle_type=new`,
    }),
    'GET persons/stickiness/': async () => ({ query: 'entity_type=events&entity_id=walk&stickiness_days=1' }),
    'GET persons/trends/': async () => ({ query: 'entity_type=events&entity_id=walk' }),
    'GET persons/values/': async () => ({ query: 'key=email' }),
    'PATCH event_definitions/:id/': async () => ({
      ids: await definition(),
      body: { description: 'walked' },
    }),
    'POST /capture/': async () => ({ body: { api_key: api.project.projectKey, ...event() } }),
    'POST /decide': async () => ({
      query: 'v=3',
      body: { api_key: api.project.projectKey, distinct_id: 'ada' },
    }),
    'POST /batch/': async () => ({
      body: {
        api_key: api.project.projectKey,
        historical_migration: true,
        batch: [{ event: 'walk', properties: { distinct_id: 'walker' }, timestamp: '2024-01-31T08:00:00Z' }],
      },
    }),
  };

  return async ({ method, path }) => {
    const below = path.replace('/api/projects/:project_id/', '');
    const own = await special[`${method} ${below}`]?.();
    const ids = own?.ids ?? (await idsFor(below));
    const target = path
      .replace(':project_id', String(api.project.id))
      .replace(/:(\w+)/g, (_, name: string) => String(ids[name]));
    return {
      path: own?.query === undefined ? target : `${target}?${own.query}`,
      ...(own?.body === undefined ? {} : { body: own.body }),
    };
  };

  function idsFor(path: string): Promise<Ids> | Ids {
    if (!path.includes(':')) return {};
    if (path.startsWith('dashboards/')) return dashboard();
    return path.startsWith('persons/') ? person() : definition();
  }
}
