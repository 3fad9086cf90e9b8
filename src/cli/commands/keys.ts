import { ConfigError } from '../../lib/errors.ts';
import { isScope, unknownScope } from '../../server/auth/scopes.ts';
import { callApi, fetchAllPages } from '../call-api.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderList } from '../render/render-list.ts';
import { withBundled } from '../with-runtime.ts';

const PATH = '/api/personal_api_keys/';

/** A personal key as the API lists it. */
interface Key {
  readonly id: number;
  readonly label: string;
  readonly user: { readonly email: string };
  readonly scopes: readonly string[];
  readonly projects: readonly number[] | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export interface CreateKeyOptions {
  readonly label: string;
  readonly scope: readonly string[];
  readonly project?: readonly string[];
  readonly user?: string;
}

/** `backhaul keys create`: stdout holds the key alone, which is never shown again. */
export async function createKey(context: CommandContext, options: CreateKeyOptions): Promise<ExitCode> {
  const { terminal } = context;
  const unknown = options.scope.find((scope) => !isScope(scope));
  if (unknown !== undefined) throw new ConfigError(unknownScope(unknown));
  const projects = options.project?.map((text) => parseId(text, '--project'));
  const body = { label: options.label, scopes: options.scope, projects, user: options.user };
  const key = await withBundled(context, (api) =>
    callApi<Key & { value: string }>(api, { method: 'POST', path: PATH, body }),
  );
  terminal.data(key, () => key.value);
  terminal.info(`This is key ${key.id}, of ${key.user.email}. It is shown only this once: keep it now.`);
  return EXIT.done;
}

/** `backhaul keys list`: all keys, revoked ones included, without their values. */
export async function listKeys(context: CommandContext): Promise<ExitCode> {
  const keys = await withBundled(context, (api) => fetchAllPages<Key>(api, PATH));
  const header = ['label', 'id', 'user', 'scopes', 'projects', 'last used', ''];
  context.terminal.data(keys, () =>
    renderList(
      header,
      keys.map((key) => [
        key.label,
        String(key.id),
        key.user.email,
        key.scopes.join(' '),
        key.projects?.join(' ') ?? 'all',
        key.last_used_at?.slice(0, 10) ?? 'never',
        key.revoked_at === null ? '' : `revoked ${key.revoked_at.slice(0, 10)}`,
      ]),
    ),
  );
  return EXIT.done;
}

/** `backhaul keys revoke <id>`: the key is refused from the next request on. */
export async function revokeKey(context: CommandContext, text: string): Promise<ExitCode> {
  const id = parseId(text, 'revoke');
  await withBundled(context, async (api) => {
    const own = await callApi<Key>(api, { path: `${PATH}@current/` });
    if (own.id === id) {
      throw new ConfigError(
        `key ${id} is the personalKey of keys.json in this data folder, and these commands work with it. To replace it, put another key with scope * there, start Backhaul again, and then revoke this one`,
      );
    }
    const known = await fetchAllPages<Key>(api, PATH);
    if (!known.some((key) => key.id === id)) {
      throw new ConfigError(`there is no key ${id}; "backhaul keys list" shows them`);
    }
    await callApi(api, { method: 'DELETE', path: `${PATH}${id}/` });
  });
  context.terminal.data({ id, revoked: true }, () => `Key ${id} is revoked.`);
  return EXIT.done;
}

function parseId(text: string, where: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ConfigError(`${where} takes a number as the lists show it, not "${text}"`);
}
