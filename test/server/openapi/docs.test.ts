import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

onEveryDatabase('the document of the API', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
  });

  test('is valid OpenAPI 3.1, and open to everybody', async () => {
    const response = await api.app.request('/openapi.json');
    expect(response.status).toBe(200);
    const validator = new Validator();
    const result = await validator.validate((await response.json()) as Record<string, unknown>);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  test('names every operation, each by a name of its own', async () => {
    const response = await api.app.request('/openapi.json');
    const { paths } = (await response.json()) as { paths: Record<string, Record<string, object>> };
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const names = operations.map((operation) =>
      'operationId' in operation ? operation.operationId : undefined,
    );
    expect(names).toContain('get_projects_persons_id');
    expect(names).not.toContain(undefined);
    expect(new Set(names).size).toBe(names.length);
  });

  test('is shown by a page whose every file comes from this service', async () => {
    const page = await api.app.request('/docs/');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      expect(file).toMatch(/^\//);
      const response = await api.app.request(file);
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
    expect((await api.app.request('/docs')).headers.get('location')).toBe('/docs/');
    expect((await api.app.request('/docs/package.json')).status).toBe(404);
  });
});
