import { ConfigError } from '../../lib/errors.ts';
import { MEMBER_LEVEL } from '../../server/auth/users.ts';
import { callApi, fetchAllPages } from '../call-api.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderList } from '../render/render-list.ts';
import { withBundled } from '../with-runtime.ts';

const PATH = '/api/users/';
const LEVELS = Object.keys(MEMBER_LEVEL);

interface User {
  readonly id: number;
  readonly uuid: string;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly organizations: readonly { readonly name: string; readonly level: number }[];
}

/** `backhaul users add`: a user whom personal keys can act for. */
export async function addUser(
  context: CommandContext,
  email: string,
  options: { readonly name: string; readonly level: string },
): Promise<ExitCode> {
  if (!LEVELS.includes(options.level)) {
    throw new ConfigError(`--level takes ${LEVELS.join(', ')}, not "${options.level}"`);
  }
  const [firstName = '', ...more] = options.name.trim().split(/\s+/);
  const body = { email, first_name: firstName, last_name: more.join(' '), level: options.level };
  const user = await withBundled(context, (api) => callApi<User>(api, { method: 'POST', path: PATH, body }));
  context.terminal.data(
    user,
    () => `${user.email} is user ${user.id}. A key for them: backhaul keys create --user ${user.email} …`,
  );
  return EXIT.done;
}

/** `backhaul users list`. */
export async function listUsers(context: CommandContext): Promise<ExitCode> {
  const users = await withBundled(context, (api) => fetchAllPages<User>(api, PATH));
  context.terminal.data(users, () =>
    renderList(
      ['email', 'id', 'name', 'level'],
      users.map((user) => [
        user.email,
        String(user.id),
        `${user.first_name} ${user.last_name}`.trim(),
        user.organizations.map(({ level }) => levelName(level)).join(' '),
      ]),
    ),
  );
  return EXIT.done;
}

/** `backhaul users remove`: from the organization of the data folder's own key. */
export async function removeUser(context: CommandContext, email: string): Promise<ExitCode> {
  await withBundled(context, async (api) => {
    const users = await fetchAllPages<User>(api, PATH);
    const user = users.find((each) => each.email.toLowerCase() === email.toLowerCase());
    if (user === undefined) throw new ConfigError(`There is no user "${email}"; see: backhaul users list`);
    await callApi(api, { method: 'DELETE', path: `/api/organizations/@current/members/${user.uuid}/` });
  });
  context.terminal.data({ email }, () => `${email} is removed; their keys open nothing there any more.`);
  return EXIT.done;
}

const levelName = (level: number) =>
  Object.entries(MEMBER_LEVEL).find(([, value]) => value === level)?.[0] ?? String(level);
