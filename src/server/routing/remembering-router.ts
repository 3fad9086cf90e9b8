import type { Result, Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';

/**
 * Hono's router for routes of any kind, which searches each path without parameters once for every method: most
 * requests bring events, always to the same few paths.
 */
export class RememberingRouter<T> implements Router<T> {
  readonly name = 'RememberingRouter';
  readonly #router = new TrieRouter<T>();
  /** Found so far, by path and method; only of paths that were declared, so that requests add none. */
  readonly #found = new Map<string, Map<string, Result<T>>>();

  add(method: string, path: string, handler: T): void {
    this.#router.add(method, path, handler);
    if (!/[:*?]/.test(path)) this.#found.set(path, new Map());
    for (const found of this.#found.values()) found.clear();
  }

  match(method: string, path: string): Result<T> {
    const found = this.#found.get(path);
    if (found === undefined) return this.#router.match(method, path);
    let result = found.get(method);
    if (result === undefined) {
      result = this.#router.match(method, path);
      found.set(method, result);
    }
    return result;
  }
}
