import { expect, it } from 'vitest';
import { QUEUE_PREFIX } from '../../jobs/catalog.ts';
import { openLedger } from '../../src/state/ledger/ledger.ts';
import { createMemoryStaging } from '../support/memory-staging.ts';

it('the names of queues say which ledgers a worker has to read', async () => {
  const { hashForm } = await openLedger(createMemoryStaging(), { id: 'new', secret: '' });
  expect(QUEUE_PREFIX).toMatch(new RegExp(`^\\{bh\\}:jobs-\\d+-${hashForm}$`));
});
