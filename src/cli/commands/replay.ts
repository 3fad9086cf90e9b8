import { loadManifest } from '../../../config/load-manifest.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { layout } from '../../migration/layout.ts';
import { loadMigration } from '../../migration/migration.ts';
import { stageRejects } from '../../stage/stage-rejects.ts';
import { clearStaging } from '../clear-staging.ts';
import { commandLine } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { preflight } from '../preflight.ts';
import { createRecord, manifestOfMigration, prepared } from '../prepare-migration.ts';
import { replayName } from '../replay-name.ts';
import { withSite } from '../with-site.ts';
import { rejectsOf } from './rejects.ts';
import { execute } from './run.ts';

/**
 * `backhaul rejects replay`: the rejected records become the parts of a migration of their own, run
 * with the mended manifest. Their uuids do not depend on the migration, so a replay adds nothing twice.
 */
export async function replay(
  context: CommandContext,
  name: string,
  options: { manifest?: string; reason?: string },
): Promise<ExitCode> {
  const mended = options.manifest
    ? await loadManifest(options.manifest, { env: context.env })
    : await manifestOfMigration(context.settings, name);

  return withSite(context, mended.manifest.destination === undefined, async (site) => {
    const { staging } = site;
    const allowed = await preflight(mended.manifest, []);
    const manifest = { ...mended.manifest, name: await freeName(staging, name) };
    const { prefix } = layout(manifest.name);
    await clearStaging(staging, prefix); // of a replay that was killed before it had its record
    const files = await stageRejects(staging, prefix, chosen(staging, name, options.reason));
    if (files.length === 0) {
      context.terminal.say(
        `${name} has no such rejects that can be replayed. See what there is: ${commandLine(context, `rejects ls ${name}`)}`,
      );
      return EXIT.done;
    }
    const record = await createRecord(site, { ...mended, manifest }, files);
    context.terminal.say(`Replaying the rejects of ${name} as migration ${record.name}.`);
    return execute(context, site, prepared(record, { ...mended, manifest }, [], allowed), {});
  });
}

async function* chosen(
  staging: Staging,
  name: string,
  reason: string | undefined,
): AsyncGenerator<RejectLine> {
  for await (const line of rejectsOf(staging, name)) {
    // Of an oversize record only the head was kept; there is nothing whole to send.
    if (!line.oversize && (reason === undefined || line.reason === reason)) yield line;
  }
}

async function freeName(staging: Staging, name: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = replayName(name, number);
    if (!(await loadMigration(staging, candidate))) return candidate;
  }
}
