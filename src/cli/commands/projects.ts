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
