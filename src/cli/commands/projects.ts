import { ConfigError } from '../../lib/errors.ts';
import { callApi, fetchAllPages } from '../call-api.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderList } from '../render/render-list.ts';
import { withBundled } from '../with-runtime.ts';

const PATH = '/api/projects/';

interface Project {
  readonly id: number;
  readonly name: string;
  readonly api_token: string;
  readonly created_at: string;
}

/** `backhaul projects add`: stdout is the project key, for manifests and clients. */
export async function addProject(context: CommandContext, name: string): Promise<ExitCode> {
  const { terminal } = context;
  const project = await withBundled(context, (api) =>
    callApi<Project>(api, { method: 'POST', path: PATH, body: { name } }),
  );
  terminal.data(project, () => project.api_token);
  terminal.info(`This is the key of project ${project.id}; whoever has it can send events there.`);
  return EXIT.done;
}

/** `backhaul projects list`. */
export async function listProjects(context: CommandContext): Promise<ExitCode> {
  const projects = await withBundled(context, (api) => fetchAllPages<Project>(api, PATH));
  context.terminal.data(projects, () =>
    renderList(
      ['name', 'id', 'key', 'created'],
      projects.map(({ name, id, api_token: key, created_at: created }) => [
        name,
        String(id),
        key,
        created.slice(0, 10),
      ]),
    ),
  );
  return EXIT.done;
}

/** `backhaul projects rename`. */
export async function renameProject(context: CommandContext, id: string, name: string): Promise<ExitCode> {
  const project = await withBundled(context, (api) =>
    callApi<Project>(api, { method: 'PATCH', path: toPath(id), body: { name } }),
  );
  context.terminal.data(project, () => `Project ${project.id} is called ${project.name}.`);
  return EXIT.done;
}

/** `backhaul projects rotate-key`: stdout is the new key. */
export async function rotateProjectKey(context: CommandContext, id: string): Promise<ExitCode> {
  const { terminal } = context;
  const project = await withBundled(context, (api) =>
    callApi<Project>(api, { method: 'POST', path: `${toPath(id)}reset_token/` }),
  );
  terminal.data(project, () => project.api_token);
  terminal.info(`This is the new key of project ${project.id}; the old one sends nothing any more.`);
  return EXIT.done;
}

function toPath(id: string): string {
  if (!/^\d+$/.test(id)) throw new ConfigError(`"${id}" is no id of a project; see: backhaul projects list`);
  return `${PATH}${id}/`;
}
