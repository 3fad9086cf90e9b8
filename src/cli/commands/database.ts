import { acquireDataDirLock } from '../../embedded/data-dir-lock.ts';
import {
  hasEmbeddedDatabase,
  putDatabaseNote,
  readDatabaseNote,
  toDatabasePaths,
} from '../../embedded/database-note.ts';
import { ConfigError, UnavailableError } from '../../lib/errors.ts';
import { formatCount } from '../../migrations/plan/format-text.ts';
import { moveEmbedded } from '../../server/database/move/move-embedded.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { renderList } from '../render/render-list.ts';
import { listenForStop } from '../stop-signal.ts';

const CONTINUE = 'The same command continues the move.';

/** `backhaul database move`: the embedded database goes to a PostgreSQL server; the folder stays as it is. */
export async function moveToServer(context: CommandContext, options: { to?: string }): Promise<ExitCode> {
  const { settings, terminal, openLog } = context;
  const databaseUrl = options.to ?? settings.databaseUrl;
  if (databaseUrl === undefined || !/^postgres(?:ql)?:\/\//.test(databaseUrl)) {
    throw new ConfigError(
      'Name the PostgreSQL server that the data goes to: --to postgres://user:password@host/database, or DATABASE_URL.',
    );
  }
  const { dataDir } = settings;
  const { folder, note } = toDatabasePaths(dataDir);
  if (!hasEmbeddedDatabase(dataDir)) {
    throw new ConfigError(`There is no embedded database in ${folder}; BACKHAUL_DATA_DIR names its folder.`);
  }
  const attempt = await acquireDataDirLock(dataDir, {
    onUnseen: ({ pid }) =>
      terminal.info(
        `Process ${pid}, which has the data folder ${dataDir}, cannot be seen from here; waiting up to 15 s for a sign of life.`,
      ),
  });
  if (attempt.kind === 'held') {
    throw new ConfigError(
      `The data folder ${dataDir} is in use by process ${attempt.owner.pid}. Stop it (backhaul serve, a run or a worker), and move then.`,
    );
  }
  const stop = listenForStop(terminal, CONTINUE);
  const lost = new AbortController();
  attempt.lock.onLost((error) => lost.abort(error));
  try {
    const tables = await moveEmbedded({
      folder,
      databaseUrl,
      log: await openLog(),
      signal: AbortSignal.any([stop.signal, lost.signal]),
      onBegin() {
        if (readDatabaseNote(dataDir)?.kind !== 'server') return;
        throw new ConfigError(
          `The data of ${dataDir} is in a PostgreSQL server already, and ${folder} is what it was before. To move it again all the same, remove ${note}.`,
        );
      },
      onArrived: (id) => putDatabaseNote(dataDir, { id, kind: 'server' }),
      onProgress: (copied, total) =>
        terminal.status(() => `${formatCount(copied)} of ${formatCount(total)} rows copied`),
    });
    terminal.data({ moved: true, tables }, () =>
      renderList(
        ['table', 'rows'],
        tables.map(({ name, rows }) => [name, formatCount(rows)]),
      ),
    );
    terminal.info(
      `Every row arrived as it was. Set DATABASE_URL to that server for every process from now on; ${folder} is not used any more and can be deleted.`,
    );
    return EXIT.done;
  } catch (error) {
    throw error instanceof UnavailableError ? new StoppedError(`${error.message} ${CONTINUE}`) : error;
  } finally {
    terminal.endStatus();
    stop.dispose();
    attempt.lock.release();
  }
}
