import type { Settings } from '../../config/settings.ts';
import type { Logger } from '../logger.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly settings: Settings;
  readonly log: Logger;
}
