import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { putServices, readServices, removeServices } from '../../src/embedded/services.ts';

test('an owner that lost the folder leaves what the next one published', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'backhaul-services-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  putServices(dataDir, { generation: 2, redisUrl: 'redis://127.0.0.1:1' });
  removeServices(dataDir, 1);
  expect(readServices(dataDir, 2)).toEqual({ generation: 2, redisUrl: 'redis://127.0.0.1:1' });
  removeServices(dataDir, 2);
  expect(readServices(dataDir, 2)).toBeUndefined();
});
