import { beforeAll, describe, expect, test } from 'vitest';
import { declareRoutes } from '../../../src/server/app.ts';
import type { AccessTable } from '../../../src/server/auth/access.ts';
import { CONTRACT_ENDPOINTS, type ContractEndpoint } from '../../../src/server/openapi/contract-endpoints.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase, silent } from '../../support/databases.ts';
import { createContractWalk, type WalkRequest } from './contract-walk.ts';

interface Operation {
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly { name: string; in: string; schema: { type?: string; format?: string } }[];
  readonly requestBody?: { content: Record<string, { schema: Schema }> };
  readonly responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}
interface Schema {
  readonly $ref?: string;
  readonly properties?: Record<string, unknown>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

const nameOf = ({ method, path }: ContractEndpoint) => `${method} ${path}`;
const documented = (document: Document, { method, path }: ContractEndpoint): Operation | undefined =>
  document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];

onEveryDatabase('the contract', (db) => {
  let api: TestApi;
  let document: Document;
  let access: AccessTable;
  let walk: (row: ContractEndpoint) => Promise<WalkRequest>;
  beforeAll(async () => {
    api = await createTestApi(db());
    ({ access } = declareRoutes({ db: db(), log: silent }));
    document = (await (await api.app.request('/openapi.json')).json()) as Document;
    walk = createContractWalk(api, db());
  });

  describe.each(CONTRACT_ENDPOINTS.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
    test('is documented with its scopes, parameters and status', () => {
      const operation = documented(document, row);
      if (operation === undefined) throw new Error('it is not in the document');
      expect(operation.security?.[0]?.['personalApiKey'] ?? []).toEqual(row.scopes);
      const inQuery = (operation.parameters ?? []).filter((each) => each.in === 'query');
      expect(inQuery.map(({ name }) => name)).toEqual(expect.arrayContaining([...(row.query ?? [])]));
      for (const [name, type] of Object.entries(row.pathTypes ?? {})) {
        const schema = operation.parameters?.find((each) => each.in === 'path' && each.name === name)?.schema;
        expect([schema?.type, schema?.format]).toContain(type);
      }
      const body = operation.requestBody?.content['application/json']?.schema;
      const taken = body === undefined ? [] : membersOf(body, document);
      expect(taken).toEqual(expect.arrayContaining([...(row.body ?? [])]));
      const answer = operation.responses[row.status];
      expect(answer).toBeDefined();
      if (row.empty === true) expect(answer?.content).toBeUndefined();
      else expect(answer?.content?.['application/json']).toBeDefined();
      if (row.query?.includes('format') === true && row.empty !== true) {
        expect(Object.keys(answer?.content ?? {})).toContain('text/csv');
      }
    });

    test('stands in the table of scopes', () => {
      const declared = access.get(nameOf(row));
      if (row.scopes.length === 0) expect(declared).toHaveProperty('public');
      else expect(declared).toEqual({ scopes: row.scopes });
    });

    test('answers as the contract says, with and without the slash', async () => {
      for (const slash of ['/', '']) {
        const { path, body } = await walk(row);
        const [at = '', query] = path.split('?');
        const target = at.replace(/\/$/, slash) + (query === undefined ? '' : `?${query}`);
        const response = await api.app.request(target, {
          method: row.method,
          headers: {
            ...(row.scopes.length === 0 ? {} : { authorization: `Bearer ${api.personalKey}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        expect(`${response.status} ${response.status === row.status ? '' : text}`).toBe(`${row.status} `);
        if (row.empty === true) expect(text).toBe('');
        else expectFields(JSON.parse(text), row);
      }
    });
  });
});

function expectFields(answer: unknown, row: ContractEndpoint): void {
  const wanted = [...(row.fields ?? [])];
  if (row.paged !== true) {
    expect(Object.keys(Object(answer))).toEqual(expect.arrayContaining(wanted));
    return;
  }
  const page = answer as { count: number; next: unknown; previous: unknown; results: object[] };
  expect(Object.keys(page)).toEqual(expect.arrayContaining(['count', 'next', 'previous', 'results']));
  expect(page.results.length).toBeGreaterThan(0);
  for (const item of page.results) expect(Object.keys(item)).toEqual(expect.arrayContaining(wanted));
}

/** Names of the members that a schema, or any of its alternatives, takes. */
function membersOf(schema: Schema, document: Document): string[] {
  const name = schema.$ref?.split('/').at(-1);
  const own = name === undefined ? undefined : document.components.schemas[name];
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    ...Object.keys(schema.properties ?? {}),
    ...(own === undefined ? [] : membersOf(own, document)),
    ...parts.flatMap((part) => membersOf(part, document)),
  ];
}
