import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { preflight } from '../../migrations/preflight.ts';
import { createRecord, loadManifestOfMigration, prepared } from '../../migrations/prepare.ts';
import { replayName } from '../../migrations/replay-name.ts';
import { stageRejects } from '../../pipeline/stage/stage-rejects.ts';
import { clearStaging } from '../../state/clear-staging.ts';
import { layout } from '../../state/keys.ts';
import { loadMigration } from '../../state/migrations.ts';
import { commandLine } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { withRuntime } from '../with-runtime.ts';
import { loadRejects } from './rejects.ts';
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
    : await loadManifestOfMigration(context.settings, name);

  return withRuntime(context, mended.manifest.destination === undefined, async (site) => {
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
    return execute(context, site, prepared(record, { ...mended, manifest }, [], allowed), {}, 'run');
  });
}

async function* chosen(
  staging: Staging,
  name: string,
  reason: string | undefined,
): AsyncGenerator<RejectLine> {
  for await (const line of loadRejects(staging, name)) {
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
