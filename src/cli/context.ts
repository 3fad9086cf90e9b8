import type { Environment } from '../../config/environment.ts';
import type { Settings } from '../../config/settings.ts';
import type { Logger } from '../lib/logger.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly settings: Settings;
  /** The process's variables. */
  readonly env: Environment;
  /** With the logger comes a package, which short commands do not need. */
  readonly openLog: () => Promise<Logger>;
}
