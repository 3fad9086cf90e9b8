import { expect, test } from 'vitest';
import {
  enterId,
  ID_WIDTH,
  readIdEntry,
  readSentEntry,
  UNKNOWN_ID,
} from '../../src/identity/merges/id-entry.ts';
import { decideMerge, type LedgerPurpose, mayRename } from '../../src/identity/merges/merge-decision.ts';
import { HASH_BYTES } from '../../src/state/ledger/keyed-hash.ts';
import { RecordTable } from '../../src/state/ledger/record-table.ts';

const B = Buffer.alloc(32, 'b');
const at = (turn: number, purpose: LedgerPurpose) => ({
  turn,
  purpose,
  hasEnded: () => true,
  isForgotten: false,
});

/** What a held migration notes: that a user has the id B by now. */
const renamed = { users: [B], isUser: true, isRenamed: true };
const noted = decideMerge(UNKNOWN_ID, renamed, at(1, 'note')).entry;

test('a new name of a user that was noted is sent when the migration is released', () => {
  expect(mayRename(noted, B)).toBe(true);
  expect(decideMerge(noted, renamed, at(2, 'send')).verdict).toBe('merge');
});

test('a new name that was noted does not hold once another migration has sent the user itself', () => {
  const sent = decideMerge(noted, { users: [], isUser: true }, at(2, 'send')).entry;
  expect(mayRename(sent, B)).toBe(false);
  const refused = { users: [B], isUser: true, isRenamed: false };
  expect(decideMerge(sent, refused, at(3, 'send')).verdict).toBe('already_identified');
});

test('a new name that was sent stays merged when the user is seen again', () => {
  const sent = decideMerge(UNKNOWN_ID, renamed, at(1, 'send')).entry;
  const again = { users: [B], isUser: true, isRenamed: false };
  expect(decideMerge(sent, again, at(2, 'send')).verdict).toBe('merged_before');
});

test('a new name that was perhaps sent is not sent by facts that name nobody so', () => {
  const sent = decideMerge(UNKNOWN_ID, renamed, at(1, 'send')).entry;
  const open = { ...at(2, 'send'), hasEnded: () => false };
  const refused = { users: [B], isUser: true, isRenamed: false };
  expect(decideMerge(sent, refused, open)).toMatchObject({ verdict: 'contradicted', entry: { sentAt: 1 } });
  expect(decideMerge(sent, renamed, open)).toMatchObject({ verdict: 'merge', entry: { sentAt: 2 } });
});

test('a merge of a turn that sent nothing is none; one of the turn before it still counts', () => {
  const table = new RecordTable(ID_WIDTH);
  const id = Buffer.alloc(HASH_BYTES, 'a');
  const user = Buffer.alloc(HASH_BYTES, 'u');
  for (const turn of [1, 2]) {
    const entry = { ...UNKNOWN_ID, user, sentAt: turn };
    enterId(table, id, entry, readIdEntry(table, id));
  }
  const sentAt = (...unsent: number[]) =>
    readSentEntry(table, id, { sentNothing: (turn) => unsent.includes(turn) }).sentAt;
  expect(sentAt()).toBe(2);
  expect(sentAt(1)).toBe(2);
  expect(sentAt(2)).toBe(1);
  expect(sentAt(1, 2)).toBe(0);
  expect(readIdEntry(table, id)).toMatchObject({ user, sentAt: 0 });
});

test('a user that was seen under an earlier name is merged by whoever sends all such names', () => {
  const byName = { users: [B], isUser: false, isByName: true };
  const named = { ...byName, areAllNamed: true };
  const plain = { users: [B], isUser: false };
  const noted = decideMerge(UNKNOWN_ID, named, at(1, 'note')).entry;
  expect(decideMerge(noted, plain, at(2, 'send')).verdict).toBe('shared_device');
  expect(decideMerge(noted, byName, at(2, 'send')).verdict).toBe('shared_device');
  const sent = decideMerge(noted, named, at(2, 'send'));
  expect(sent.verdict).toBe('merge');
  expect(decideMerge(sent.entry, plain, at(3, 'send')).verdict).toBe('merged_before');
  const notedAgain = decideMerge(sent.entry, byName, at(4, 'note')).entry;
  expect(decideMerge(notedAgain, plain, at(5, 'send')).verdict).toBe('merged_before');
});

test('such a merge that was perhaps never sent is sent by nobody else, and perhaps the user has the values', () => {
  const named = { users: [B], isUser: false, isByName: true, areAllNamed: true };
  const begun = decideMerge(UNKNOWN_ID, named, at(1, 'send')).entry;
  const later = { ...at(2, 'send'), hasEnded: () => false };
  expect(decideMerge(begun, { users: [B], isUser: false }, later)).toMatchObject({
    verdict: 'shared_device',
    perhaps: B,
  });
  expect(decideMerge(begun, named, later).verdict).toBe('merge');
});

test('a user with an earlier name that the facts at hand do not say gets no other one', () => {
  const known = { ...UNKNOWN_ID, user: B, isByName: true };
  expect([mayRename(known, B), mayRename(known, B, true)]).toEqual([false, true]);
});
