import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createLogger, openLog } from '../../src/lib/logger.ts';

test.skipIf(!existsSync('/dev/full'))('a log on a full disk fails nobody', () => {
  const log = createLogger('info', openLog('/dev/full'));
  for (let line = 0; line < 3; line += 1) expect(() => log.info('kept nowhere')).not.toThrow();
});
