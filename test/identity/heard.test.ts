import { describe, expect, it } from 'vitest';
import { HEARD_TIME } from '../../src/contract/heard-time.ts';
import type { PairFact } from '../../src/contract/identity-fact.ts';
import { UNKNOWN_ID } from '../../src/identity/merges/id-entry.ts';
import { decideMerge } from '../../src/identity/merges/merge-decision.ts';
import { createMemoryStaging } from '../support/memory-staging.ts';
import { importPeople } from './connected-people.ts';
import { createTestLedger, openAtTurn, takeTestTurn } from './ledgers.ts';

/** What is only heard of a device keeps users apart and merges nothing. */

const DAY = '2023-01-01T00:00:00.000Z';
const LATER = '2023-01-02T00:00:00.000Z';
const pair = (anonId: string, userId: string, time = DAY): PairFact => ({
  kind: 'pair',
  anonId,
  userId,
  time,
});
const alice = pair('tablet', 'alice');
const heardBob = pair('tablet', 'bob', HEARD_TIME);

describe('a user that is only heard of', () => {
  it('forbids the merge of the device into another one, in the same migration and in a later one', async () => {
    const together = await takeTestTurn(createTestLedger(), [alice, heardBob]);
    expect(together.merges).toEqual([]);
    expect(together.unmerged).toMatchObject([{ reason: 'shared_device', users: ['alice', 'bob'] }]);

    const ledger = createTestLedger();
    const first = await takeTestTurn(ledger, [heardBob]);
    expect(first).toMatchObject({ merges: [], unmerged: [] });
    const second = await takeTestTurn(ledger, [alice]);
    expect(second.merges).toEqual([]);
    expect(second.unmerged).toMatchObject([{ reason: 'shared_device' }]);
  });

  it('is a user: nothing merges its own id into anybody', async () => {
    const { merges, unmerged } = await takeTestTurn(createTestLedger(), [heardBob, pair('bob', 'alice')]);
    expect(merges).toEqual([]);
    expect(unmerged).toMatchObject([{ reason: 'already_identified', id: 'bob' }]);
  });

  it('is merged once a record says when, with that time', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [heardBob]);
    const { merges } = await takeTestTurn(ledger, [heardBob, pair('tablet', 'bob', LATER)]);
    expect(merges).toEqual([['bob', 'tablet', LATER]]);
  });

  it('contradicts a merge that was sent before', async () => {
    const ledger = createTestLedger();
    expect((await takeTestTurn(ledger, [alice])).merges).toHaveLength(1);
    const { unmerged } = await takeTestTurn(ledger, [heardBob]);
    expect(unmerged).toMatchObject([{ reason: 'contradicted_merge', id: 'tablet' }]);
  });

  it('is no merge that was sent before there was a ledger', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [heardBob], { purpose: 'take_in' });
    const { unmerged } = await takeTestTurn(ledger, [pair('tablet', 'carol')]);
    expect(unmerged).toMatchObject([{ reason: 'shared_device' }]);
  });

  it('leaves no doubt about who is a user', () => {
    const own = { users: [Buffer.from('bob')], isHeard: true, isUser: true };
    const { entry } = decideMerge(UNKNOWN_ID, own, openAtTurn(createTestLedger(), 1));
    // Noted alone, something else might be merged into the id although it may have a user of its own.
    expect(entry).toMatchObject({ isUser: true, isNoted: false });
  });

  it.each(['first', 'last'] as const)(
    'leaves open whose a shared device is until a record says when: %s',
    async (policy) => {
      const ledger = createTestLedger(policy);
      const { merges, unmerged } = await takeTestTurn(ledger, [alice, heardBob]);
      expect(merges).toEqual([]);
      expect(unmerged).toMatchObject([{ reason: 'shared_device' }]);
      expect((await takeTestTurn(ledger, [alice])).merges).toEqual([]);
      const bob = pair('tablet', 'bob', LATER);
      const replayed = await takeTestTurn(ledger, [alice, heardBob, bob]);
      expect(replayed.merges).toEqual([
        policy === 'first' ? ['alice', 'tablet', DAY] : ['bob', 'tablet', LATER],
      ]);
    },
  );
});

describe("the vendor's person of a record that is rejected", () => {
  const event = { app: 1, amplitude_id: 7, event_type: 'Opened' };
  const ofDevice = { ...event, device_id: 'tablet', event_time: '2023-01-01 00:00:00', uuid: 'a' };
  const ofAlice = { ...event, user_id: 'alice', event_time: '2023-01-01 00:00:00', uuid: 'b' };
  const ofBob = { ...event, user_id: 'bob', event_time: 'soon', uuid: 'c' };

  it('has that user besides, so that its devices are nobody’s', async () => {
    const both = await importPeople(createMemoryStaging(), 'amplitude', [[ofDevice, ofAlice]]);
    expect(both.persons).toEqual(['alice tablet']);
    const all = await importPeople(createMemoryStaging(), 'amplitude', [[ofDevice, ofAlice, ofBob]]);
    expect(all.persons).toEqual(['alice', 'tablet']);
    expect(all.people.setAside).toMatchObject({ several_users: 1 });
  });

  it('is merged with nobody by that record alone', async () => {
    const { persons } = await importPeople(createMemoryStaging(), 'amplitude', [[ofDevice, ofBob]]);
    expect(persons).toEqual(['tablet']);
  });
});
