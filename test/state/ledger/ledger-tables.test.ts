import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createPace } from '../../../src/lib/async/pace.ts';
import { FencedOutError, SourceError } from '../../../src/lib/errors.ts';
import { getBucket } from '../../../src/state/bucket.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { createKeyedHash, HASH_BYTES } from '../../../src/state/ledger/keyed-hash.ts';
import { clearLedgerTable, createLedgerTables } from '../../../src/state/ledger/ledger-tables.ts';
import { RecordTable } from '../../../src/state/ledger/record-table.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'backhaul-ledger-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const WIDTH = HASH_BYTES + 4;
const hash = createKeyedHash('key');
const pace = createPace();

const write = (table: RecordTable, id: string, value: number) => {
  const offset = table.insert(hash.id(id));
  table.bytes.writeUInt32BE(value, offset + HASH_BYTES);
  table.changed = true;
};
const read = (table: RecordTable | undefined, id: string) => {
  const offset = table?.find(hash.id(id)) ?? -1;
  return offset === -1 ? undefined : table?.bytes.readUInt32BE(offset + HASH_BYTES);
};

describe('a keyed hash', () => {
  it('begins with the bucket, and differs by key, kind and subject', () => {
    expect(hash.id('u1')[0]).toBe(getBucket('u1'));
    expect(hash.id('u1').length).toBe(HASH_BYTES);
    const subject = hash.id('u1').toString('hex');
    const all = [
      hash.id('u1'),
      hash.group('u1'),
      createKeyedHash('other').id('u1'),
      Buffer.from(hash.property(subject, 'set', 'plan')),
      Buffer.from(hash.property(subject, 'set_once', 'plan')),
      Buffer.from(hash.property(hash.id('u2').toString('hex'), 'set', 'plan')),
    ].map((one) => one.toString('hex').slice(2));
    expect(new Set(all).size).toBe(all.length);
    expect(hash.property(subject, 'set', 'plan')[0]).toBe(getBucket('u1'));
  });

  it('never changes: ledgers hold what was hashed years before', () => {
    const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
    const subject = toHex(hash.id('u1'));
    expect(subject).toBe('171f80495b9ef1a8453c54a0');
    expect(toHex(hash.group('g'))).toBe('25209ffede6a08180a5aff21');
    expect(toHex(createKeyedHash('key', 1).property(subject, 'set', 'plan'))).toBe(
      '17782c200b75a8e3492c20c3',
    );
    expect(toHex(hash.property(subject, 'set', 'plan'))).toBe('17fe106d0bbcaaa106e67d9f');
  });
});

describe('a table of records', () => {
  it('finds every record, however many there are, also after it was stored', async () => {
    const table = new RecordTable(WIDTH);
    for (let number = 0; number < 5_000; number += 1) write(table, `id-${number}`, number);
    await table.reserve(20_000, pace);
    const stored = await RecordTable.decode(WIDTH, await table.encode(pace), pace);
    for (const one of [table, stored]) {
      expect(one.size).toBe(5_000);
      for (let number = 0; number < 5_000; number += 7) expect(read(one, `id-${number}`)).toBe(number);
      expect(read(one, 'id-5000')).toBeUndefined();
    }
    write(stored, 'id-7', 70);
    expect([stored.size, read(stored, 'id-7')]).toEqual([5_000, 70]);
  });
});

describe('the tables of a ledger', () => {
  const open = (ledger: string) => createLedgerTables(staging, ledger, 'ids', WIDTH);
  const keysOf = async (ledger: string) => {
    const found: string[] = [];
    for await (const { key } of staging.list(ledgerLayout(ledger).prefix)) found.push(key);
    return found;
  };

  it('are saved as versions, of which the last two stay, and only where something changed', async () => {
    for (let version = 1; version <= 4; version += 1) {
      const tables = open('versions');
      const loaded = await tables.load([3, 5]);
      expect(read(loaded.get(3), 'a')).toBe(version === 1 ? undefined : version - 1);
      const table = loaded.get(3);
      if (table) write(table, 'a', version);
      await tables.save(loaded);
      await tables.save(loaded);
    }
    const keys = ledgerLayout('versions');
    expect(await keysOf('versions')).toEqual([keys.version('ids', 3, 3), keys.version('ids', 3, 4)]);
  });

  it('fence out who loaded a version that is not the last any more', async () => {
    const [mine, theirs] = [open('fenced'), open('fenced')];
    const [my, their] = [await mine.load([1]), await theirs.load([1])];
    for (const [tables, value] of [
      [my, 1],
      [their, 2],
    ] as const)
      for (const table of tables.values()) write(table, 'a', value);
    await theirs.save(their);
    const refused = mine.save(my);
    await expect(refused).rejects.toThrow(FencedOutError);
    await expect(refused).rejects.toThrow(/resume this migration when that one has ended/);
    expect(read((await open('fenced').load([1])).get(1), 'a')).toBe(2);
    expect(read((await mine.load([1])).get(1), 'a')).toBe(2);
  });

  it('are saved where the answer is lost, and the request repeated', async () => {
    let lost = 0;
    const create = async (key: string, body: Buffer) => {
      if (await staging.create(key, body)) lost += 1;
      return false;
    };
    const tables = createLedgerTables({ ...staging, create }, 'lost-answer', 'ids', WIDTH);
    const loaded = await tables.load([1, 2]);
    for (const table of loaded.values()) write(table, 'a', 1);
    await tables.save(loaded);
    for (const table of loaded.values()) write(table, 'a', 2);
    await tables.save(loaded);
    expect(lost).toBe(4);
    expect(tables.listVersions(0, 256)).toEqual({ 1: 2, 2: 2 });
    expect(read((await open('lost-answer').load([1])).get(1), 'a')).toBe(2);
  });

  it('fence out, once emptied, who had loaded what they held', async () => {
    const fill = async () => {
      const tables = open('emptied');
      const loaded = await tables.load([4]);
      for (const table of loaded.values()) write(table, 'a', 1);
      return () => tables.save(loaded);
    };
    await (await fill())();
    const sleeping = await fill();
    await clearLedgerTable(staging, 'emptied', 'ids');
    expect(read((await open('emptied').load([4])).get(4), 'a')).toBeUndefined();
    await (await fill())();
    await expect(sleeping()).rejects.toThrow(FencedOutError);
    expect(await keysOf('emptied')).toEqual([2, 3].map((n) => ledgerLayout('emptied').version('ids', 4, n)));
  });

  it('leave nothing under way when they could not be saved', async () => {
    let written = 0;
    const create = async (key: string, body: Buffer) => {
      if (key.includes('/01/')) return false;
      const created = await staging.create(key, body);
      written += 1;
      return created;
    };
    const slow = createLedgerTables({ ...staging, create }, 'settled', 'ids', WIDTH);
    const loaded = await slow.load([1, 2, 3]);
    for (const table of loaded.values()) write(table, 'a', 1);
    await expect(slow.save(loaded)).rejects.toThrow(FencedOutError);
    expect(written).toBe(2);
  });

  it('are not believed when they are damaged', async () => {
    const tables = open('damaged');
    const loaded = await tables.load([2]);
    for (const table of loaded.values()) write(table, 'a', 1);
    await tables.save(loaded);
    const key = ledgerLayout('damaged').version('ids', 2, 1);
    const body = (await staging.get(key)) ?? Buffer.alloc(0);
    body[body.length - 1] = 9;
    await staging.put(key, body);
    await expect(open('damaged').load([2])).rejects.toThrow(SourceError);
    await expect(open('damaged').load([2])).rejects.toThrow('remove this one object');
  });
});
