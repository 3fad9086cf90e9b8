import { randomUUID } from 'node:crypto';
import { loadManifest } from '../../../config/load-manifest.ts';
import { tooManyRejects } from '../../../config/manifest.ts';
import { manifestIdentity } from '../../../config/manifest-identity.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../errors.ts';
import { mappingName } from '../../map/sources.ts';
import { layout } from '../../migration/layout.ts';
import { createMigration, loadMigration, type MigrationRecord } from '../../migration/migration.ts';
import { stageRejects } from '../../stage/stage-rejects.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { manifestOfMigration } from '../prepare-migration.ts';
import { rejectsOf } from './rejects.ts';
import { execute, withSite } from './run.ts';

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
    const replayName = await freeName(staging, name);
    const manifest = { ...mended.manifest, name: replayName };
    const staged = await stageRejects(
      staging,
      layout(replayName).prefix,
      chosen(staging, name, options.reason),
    );
    if (staged.length === 0) {
      context.terminal.say(`${name} has no such rejects that can be replayed.`);
      return EXIT.done;
    }
    const { identity, sha256 } = manifestIdentity(manifest);
    const record: MigrationRecord = {
      id: randomUUID(),
      name: replayName,
      identity,
      identitySha256: sha256,
      mapping: mappingName(manifest.source.type),
      destination: manifest.destination?.url ?? 'bundled API',
      files: staged,
      createdAt: new Date().toISOString(),
    };
    if (!(await createMigration(staging, record)))
      throw new ConfigError(`${replayName} was started by another process; run the command again`);
    context.terminal.say(`Replaying the rejects of ${name} as migration ${replayName}.`);
    return execute(
      context,
      site,
      {
        record,
        manifest,
        baseDir: mended.baseDir,
        files: [],
        tooManyRejects: (counts) => tooManyRejects(manifest.rejects.failAbove, counts),
      },
      {},
    );
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
    const candidate = `${name}.replay-${number}`;
    if (!(await loadMigration(staging, candidate))) return candidate;
  }
}
