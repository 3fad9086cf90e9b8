import { expect, test } from 'vitest';
import { RememberingRouter } from '../../../src/server/routing/remembering-router.ts';

/** Handlers of a request in their order, each with its parameters. */
function match(router: RememberingRouter<string>, method: string, path: string) {
  const [found] = router.match(method, path);
  return found.map(([handler, params]) => [handler, { ...params }]);
}

function createRouter() {
  const router = new RememberingRouter<string>();
  router.add('ALL', '/*', 'every');
  router.add('GET', '/users/@me/', 'me');
  router.add('GET', '/users/:id/', 'one');
  router.add('POST', '/users/', 'create');
  router.add('GET', '/users/', 'list');
  return router;
}

test('finds the same the second time, by method and by path', () => {
  const router = createRouter();
  for (const _ of [1, 2]) {
    expect(match(router, 'GET', '/users/')).toEqual([
      ['every', {}],
      ['list', {}],
    ]);
    expect(match(router, 'POST', '/users/')).toEqual([
      ['every', {}],
      ['create', {}],
    ]);
    expect(match(router, 'DELETE', '/users/')).toEqual([['every', {}]]);
    expect(match(router, 'GET', '/users/@me/')).toEqual([
      ['every', {}],
      ['me', {}],
      ['one', { id: '@me' }],
    ]);
    expect(match(router, 'GET', '/other/')).toEqual([['every', {}]]);
  }
});

test('each request to a path with parameters has its own', () => {
  const router = createRouter();
  for (const id of ['1', '2']) {
    expect(match(router, 'GET', `/users/${id}/`)).toEqual([
      ['every', {}],
      ['one', { id }],
    ]);
  }
});

test('a route that is added after a request is found by the next one', () => {
  const router = createRouter();
  expect(match(router, 'PUT', '/users/')).toEqual([['every', {}]]);
  router.add('PUT', '/:any/', 'late');
  expect(match(router, 'PUT', '/users/')).toEqual([
    ['every', {}],
    ['late', { any: 'users' }],
  ]);
});
