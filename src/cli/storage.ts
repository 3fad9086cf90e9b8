import type { Staging } from '../contract/staging.ts';
import type { MigrationStore, PlanContext } from '../migrations/migration-runtime.ts';
import { openStaging } from '../runtime/open-staging.ts';
import { createPlanContext, openStore } from '../runtime/open-store.ts';
import type { CommandContext } from './context.ts';

/*
 * What commands read outside a run. They say that they wait for an S3 that does not respond: the requests take minutes
 * to fail.
 */

type Reader = Pick<CommandContext, 'settings' | 'terminal'>;

const tell =
  ({ terminal }: Reader) =>
  (trouble: string | undefined): void =>
    terminal.info(trouble === undefined ? 'S3 answers again.' : `Waiting: ${trouble}`);

export const openStoreOf = (reader: Reader): Promise<MigrationStore> =>
  openStore(reader.settings, tell(reader));

export const openStagingOf = (reader: Reader): Promise<Staging> => openStaging(reader.settings, tell(reader));

export const createPlanContextOf = (reader: Reader): PlanContext =>
  createPlanContext(reader.settings, tell(reader));
