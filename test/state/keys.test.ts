import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  isLedgerKey,
  ledgerLayout,
  parseKnownKey,
  parseKnownName,
  parseVersionKey,
} from '../../src/state/keys/ledger.ts';
import {
  layout,
  parseEpochKey,
  parseMigrationName,
  parseNumberedKey,
  parseReceiptKey,
  parseRecordKey,
  RECORDS,
} from '../../src/state/keys/migration.ts';
import { parseAttemptKey, toAttemptKey } from '../../src/state/keys/notices.ts';
import { isDocument } from '../../src/state/keys/ordinal.ts';
import {
  parseFileReceiptKey,
  partKeys,
  toFactsKey,
  toPartId,
  toPartsPrefix,
} from '../../src/state/keys/parts.ts';
import {
  parsePlanRun,
  toPlanAliveKey,
  toPlanFactsPrefix,
  toPlanPrefix,
  toPlanRunPrefix,
} from '../../src/state/keys/plan.ts';
import { parseScheduleKey, scheduleLayout } from '../../src/state/keys/schedule.ts';
import { toSegmentName } from '../../src/state/keys/segments.ts';
import { toBudgetKey } from '../../src/state/keys/shared.ts';
import {
  parseRangeKey,
  parseTurnKey,
  toMergesKey,
  toRangeId,
  toRangeKey,
  toResolvedFactsKey,
} from '../../src/state/keys/turn.ts';

const SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const PART = '0a1b2c3d4e5f/00017';
const SEGMENT = '0a1b2c3d4e5f/00017/3-12-20000';
const RANGE = { from: 8, to: 16 };

describe('keys of staging, as earlier versions stored them', () => {
  it('of schedules, and of attempts to tell the webhook', () => {
    const keys = scheduleLayout('shop.2024');
    expect({ ...keys, version: keys.version(3), run: keys.run(12) }).toEqual({
      versions: '_schedules/shop.2024/versions/',
      version: '_schedules/shop.2024/versions/00000003.json',
      runs: '_schedules/shop.2024/runs/',
      run: '_schedules/shop.2024/runs/00000012.json',
      notices: '_schedules/shop.2024/notices/',
    });
    expect(parseScheduleKey(keys.version(3))).toBe('shop.2024');
    for (const other of [keys.run(3), `${keys.versions}3.json`, '_schedules/.DS_Store'])
      expect(parseScheduleKey(other)).toBeUndefined();
    for (const folder of [keys.notices, layout('shop.2024').notices]) {
      const key = toAttemptKey(folder, { notice: 7, attempt: 2 });
      expect(key).toBe(`${folder}00000007/00000002.json`);
      expect(parseAttemptKey(key)).toEqual({ notice: 7, attempt: 2 });
      expect(parseAttemptKey(`${folder}00000007/._00000002.json`)).toBeUndefined();
    }
  });

  it('of a migration', () => {
    const keys = layout('shop.2024');
    expect({
      ...keys,
      epoch: [keys.epoch(1), keys.epoch(12_345_678), keys.epoch(123_456_789)],
      receipt: keys.receipt(PART),
      originsOf: keys.originsOf(PART),
      originsOfSlice: keys.originsOfSlice('0a1b2c3d4e5f'),
      sentBeforeOf: keys.sentBeforeOf(PART),
      checkpointsOf: keys.checkpointsOf(PART),
      checkpoint: keys.checkpoint({ part: PART, epoch: 3, counter: 12 }),
      rejectsOf: keys.rejectsOf(PART),
      rejectSegment: keys.rejectSegment(SEGMENT),
      findingsOf: keys.findingsOf(PART),
      findings: keys.findings(SEGMENT),
      fingerprintsOf: keys.fingerprintsOf(PART),
      fingerprints: keys.fingerprints(SEGMENT),
      givenUp: keys.givenUp(PART),
      givenUpBody: keys.givenUpBody(PART),
      repeatsResult: keys.repeatsResult('0f1e'),
      repeatsRange: keys.repeatsRange('0f1e', '00002'),
      repeatsRejects: keys.repeatsRejects('0f1e', '00002', PART),
      turn: keys.turn(7),
      endedTurn: keys.endedTurn(7, 2),
      endedTurnOf: keys.endedTurnOf(7),
      atTurn: undefined,
      topUp: keys.topUp(12),
      releasedIn: keys.releasedIn('shop.persons-1', 7),
      verification: keys.verification(3),
      control: keys.control(3),
      report: keys.report(2),
      progress: keys.progress(2),
      ownReport: keys.report(2, 'a0b1c2d3-4e5f'),
      accepted: keys.accepted(),
      ownAccepted: keys.accepted('a0b1c2d3-4e5f'),
      volume: keys.volume(),
      ownVolume: keys.volume('a0b1c2d3-4e5f'),
      hashKey: keys.hashKey(),
      ownHashKey: keys.hashKey('a0b1c2d3-4e5f'),
      ownProgress: keys.progress(2, 'a0b1c2d3-4e5f'),
    }).toEqual({
      prefix: 'shop.2024/',
      releases: 'shop.2024/people/released/',
      releasedIn: 'shop.2024/people/released/shop.persons-1/00000007.json',
      record: '_migrations/shop.2024.json',
      controls: 'shop.2024/control/',
      notices: 'shop.2024/notices/',
      control: 'shop.2024/control/00000003.json',
      reports: 'shop.2024/reports/',
      report: 'shop.2024/reports/00000002.json',
      progressNotes: 'shop.2024/progress/',
      progress: 'shop.2024/progress/00000002.json',
      ownReport: 'shop.2024/reports/00000002-a0b1c2d3.json',
      ownProgress: 'shop.2024/progress/00000002-a0b1c2d3.json',
      oldControl: 'shop.2024/control.json',
      oldReport: 'shop.2024/report.json',
      oldProgress: 'shop.2024/progress.json',
      volume: 'shop.2024/volume.json',
      ownVolume: 'shop.2024/volume-a0b1c2d3.json',
      hashKey: 'shop.2024/hash-key.json',
      ownHashKey: 'shop.2024/hash-key-a0b1c2d3.json',
      accepted: 'shop.2024/accepted.json',
      ownAccepted: 'shop.2024/accepted-a0b1c2d3.json',
      verifications: 'shop.2024/verifications/',
      verification: 'shop.2024/verifications/00000003.json',
      topUps: 'shop.2024/top-ups/',
      topUp: 'shop.2024/top-ups/00012.json',
      epochs: 'shop.2024/epochs/',
      epoch: ['shop.2024/epochs/00000001', 'shop.2024/epochs/12345678', 'shop.2024/epochs/123456789'],
      receipts: 'shop.2024/receipts/',
      receipt: 'shop.2024/receipts/0a1b2c3d4e5f/00017.json',
      origins: 'shop.2024/origins/',
      originsOf: 'shop.2024/origins/0a1b2c3d4e5f/00017.json',
      originsOfSlice: 'shop.2024/origins/0a1b2c3d4e5f/',
      sentBeforeOf: 'shop.2024/sent-before/0a1b2c3d4e5f/00017.json',
      checkpointsOf: 'shop.2024/checkpoints/0a1b2c3d4e5f/00017/',
      checkpoint: 'shop.2024/checkpoints/0a1b2c3d4e5f/00017/3-12.json',
      rejects: 'shop.2024/rejects/',
      rejectsOf: 'shop.2024/rejects/0a1b2c3d4e5f/00017/',
      rejectSegment: 'shop.2024/rejects/0a1b2c3d4e5f/00017/3-12-20000.ndjson.gz',
      allFindings: 'shop.2024/findings/',
      findingsOf: 'shop.2024/findings/0a1b2c3d4e5f/00017/',
      findings: 'shop.2024/findings/0a1b2c3d4e5f/00017/3-12-20000.gz',
      allFingerprints: 'shop.2024/fingerprints/',
      fingerprintsOf: 'shop.2024/fingerprints/0a1b2c3d4e5f/00017/',
      fingerprints: 'shop.2024/fingerprints/0a1b2c3d4e5f/00017/3-12-20000.bin',
      givenUp: 'shop.2024/fingerprints/0a1b2c3d4e5f/00017/given-up.json',
      givenUpBody: 'shop.2024/fingerprints/0a1b2c3d4e5f/00017/given-up.bin',
      repeats: 'shop.2024/repeats/',
      repeatsResult: 'shop.2024/repeats/0f1e/result.json',
      foldResult: 'shop.2024/repeats/kept-result.json',
      repeatsRange: 'shop.2024/repeats/0f1e/ranges/00002.json',
      repeatsRejects: 'shop.2024/rejects/0a1b2c3d4e5f/00017/repeats-0f1e-00002.ndjson.gz',
      resolved: 'shop.2024/people/resolved/',
      folded: 'shop.2024/people/folded/',
      turns: 'shop.2024/people/turns/',
      turn: 'shop.2024/people/turns/00000007.json',
      endedTurns: 'shop.2024/people/ended/',
      endedTurn: 'shop.2024/people/ended/00000007/00000002.json',
      endedTurnOf: 'shop.2024/people/ended/00000007/',
      released: 'shop.2024/people/released.json',
      facts: ['shop.2024/findings/', 'shop.2024/people/findings/', 'shop.2024/people/work/'],
      factsRemoved: 'shop.2024/people/facts-removed.json',
    });
    expect(keys.atTurn(7)).toMatchObject({
      prefix: 'shop.2024/people/work/00000007/',
      resolved: 'shop.2024/people/work/00000007/resolved/',
      merged: 'shop.2024/people/work/00000007/merged/',
      folded: 'shop.2024/people/work/00000007/folded/',
    });
    expect(keys.atTurn(7).factsBy('3-f81d4fae')).toBe('shop.2024/people/work/00000007/facts/3-f81d4fae/');
    expect(keys.atTurn(7).refusedBy('merged', RANGE, 'f81d4fae')).toBe(
      'shop.2024/people/work/00000007/refused/merged-8-16-f81d4fae.gz',
    );
    expect(keys.atTurn(7).checkpoints('merged')).toBe('shop.2024/people/work/00000007/checkpoints/merged/');
    expect(keys.atTurn(7).attempts('merged')).toBe('shop.2024/people/work/00000007/attempts/merged/');
  });

  it('of a ledger', () => {
    const keys = ledgerLayout('0a1b');
    expect({
      ...keys,
      turn: keys.turn(7),
      versions: keys.versions(9),
      endedTurn: keys.endedTurn(7),
      known: keys.known('shop'),
      table: keys.table('properties'),
      version: keys.version('ids', 7, 3),
    }).toEqual({
      prefix: '_ledgers/0a1b/',
      document: '_ledgers/0a1b/ledger.json',
      forgotten: '_ledgers/0a1b/forgotten.json',
      moved: '_ledgers/0a1b/moved.json',
      allVersions: '_ledgers/0a1b/versions/',
      versions: '_ledgers/0a1b/versions/00000009.json',
      knownFacts: '_ledgers/0a1b/known/',
      turns: '_ledgers/0a1b/turns/',
      turn: '_ledgers/0a1b/turns/00000007.json',
      endedTurns: '_ledgers/0a1b/ended/',
      endedTurn: '_ledgers/0a1b/ended/00000007.json',
      known: '_ledgers/0a1b/known/shop.json',
      table: '_ledgers/0a1b/properties/',
      version: '_ledgers/0a1b/ids/07/00000003',
    });
    expect(parseVersionKey(keys.version('ids', 63, 12))).toEqual({ bucket: 63, version: 12 });
    expect(parseTurnKey(keys.turn(7))).toBe(7);
    expect(parseKnownKey(keys.known('shop'), 'shop')).toBe('0a1b');
    expect(parseKnownKey(keys.known('my-shop'), 'shop')).toBeUndefined();
    expect(parseKnownName(keys.known('shop.2024'))).toBe('shop.2024');
    expect(parseKnownName(`${keys.knownFacts}.DS_Store.json`)).toBeUndefined();
    expect(isLedgerKey(keys.document)).toBe(true);
    expect(isLedgerKey(layout('shop').record)).toBe(false);
  });

  it('of parts, below the id of their migration, or its name alone where an earlier version began it', () => {
    expect(toPartsPrefix({ name: 'shop', id: 'one', partsById: true })).toBe('shop/staged/one/');
    expect(toPartsPrefix({ name: 'shop', id: 'one' })).toBe('shop/');
    expect(parseMigrationName(toPartsPrefix({ name: 'shop', id: 'one', partsById: true }))).toBe('shop');
  });

  it('of staged files and their parts', () => {
    const keys = partKeys('shop/');
    expect({
      ...keys,
      fileParts: keys.fileParts('0a1b2c3d4e5f'),
      body: keys.body({ id: PART, sha256: SHA256 }),
      unpacked: keys.body({ id: PART, sha256: SHA256, packing: 'none' }),
      packed: keys.body({ id: PART, sha256: SHA256, packing: 'brotli' }),
      description: keys.description(PART),
      receiptVersions: keys.receiptVersions('0a1b2c3d4e5f'),
      receipt: [keys.receipt('0a1b2c3d4e5f', 1), keys.receipt('0a1b2c3d4e5f', 2)],
    }).toEqual({
      parts: 'shop/parts/',
      fileParts: 'shop/parts/0a1b2c3d4e5f/',
      body: 'shop/parts/0a1b2c3d4e5f/00017.gz',
      unpacked: 'shop/parts/0a1b2c3d4e5f/00017.e3b0c44298fc1c14.frames',
      packed: 'shop/parts/0a1b2c3d4e5f/00017.e3b0c44298fc1c14.frames.br',
      description: 'shop/parts/0a1b2c3d4e5f/00017.json',
      receipts: 'shop/files/',
      receiptVersions: 'shop/files/0a1b2c3d4e5f.',
      receipt: ['shop/files/0a1b2c3d4e5f.json', 'shop/files/0a1b2c3d4e5f.00000002.json'],
    });
  });

  it('of identity facts, and of the ranges of buckets that were resolved or folded', () => {
    expect(toFactsKey('shop/', SEGMENT)).toBe('shop/findings/0a1b2c3d4e5f/00017/3-12-20000.gz');
    const writer = 'shop/people/work/00000007/facts/3-f81d4fae/';
    expect(toResolvedFactsKey(writer, RANGE, 0)).toBe(`${writer}8-16-0000.gz`);
    expect(toResolvedFactsKey(writer, RANGE, 12_345)).toBe(`${writer}8-16-12345.gz`);
    expect(toMergesKey(writer, RANGE, 3)).toBe(`${writer}8-16-merges-0003.gz`);
    expect(toRangeKey('shop/people/folded/', RANGE)).toBe('shop/people/folded/8-16.json');
    expect(parseRangeKey('shop/people/folded/8-16.json')).toEqual({ ...RANGE, attempt: 1 });
    expect(toRangeKey('shop/people/folded/', RANGE, 2)).toBe('shop/people/folded/8-16.2.json');
    expect(parseRangeKey('shop/people/folded/8-16.2.json')).toEqual({ ...RANGE, attempt: 2 });
  });

  it('of a budget and of a plan, which belong to no migration', () => {
    expect(toBudgetKey('0123456789abcdef')).toBe('_budgets/0123456789abcdef.json');
    expect(toPlanPrefix('shop')).toBe('_plans/shop/');
    expect(toPlanRunPrefix('shop', '0a1b')).toBe('_plans/shop/0a1b/');
    expect(toPlanAliveKey('_plans/shop/0a1b/')).toBe('_plans/shop/0a1b/alive.json');
    expect(parsePlanRun('shop', '_plans/shop/0a1b/parts/1/00000.json')).toBe('0a1b');
    expect(toPlanFactsPrefix('_plans/shop/')).toBe('_plans/shop/people/');
  });

  it('and the names in them', () => {
    expect(RECORDS).toBe('_migrations/');
    expect(toPartId('0a1b2c3d4e5f', 17)).toBe(PART);
    expect(toPartId('0a1b2c3d4e5f', 123_456)).toBe('0a1b2c3d4e5f/123456');
    expect(toSegmentName({ part: PART, epoch: 3, counter: 12 }, 20_000)).toBe(SEGMENT);
    expect(toRangeId(RANGE)).toBe('8-16');
  });
});

describe('parsing a key', () => {
  const keys = layout('shop.2024');

  it('yields what it was built from', () => {
    expect(parseRecordKey(keys.record)).toBe('shop.2024');
    expect(parseEpochKey(keys.epoch(7))).toBe(7);
    expect(parseEpochKey(keys.epoch(123_456_789))).toBe(123_456_789);
    expect(parseReceiptKey('shop.2024', keys.receipt(PART))).toBe(PART);
  });

  it('of a file that Backhaul did not write yields nothing', () => {
    expect(parseRecordKey('_migrations/.DS_Store')).toBeUndefined();
    expect(parseRecordKey('_migrations/._shop.json')).toBeUndefined();
    for (const name of ['.DS_Store', '00000NaN', '7', '00000007~', '00000007 2', '99999999999999999999'])
      expect(parseEpochKey(`shop/epochs/${name}`), name).toBeUndefined();
    for (const name of ['.DS_Store', '00000NaN.json', '7.json', '00000007 (1).json', '._00000007.json'])
      expect(parseTurnKey(`_ledgers/0a1b/turns/${name}`), name).toBeUndefined();
    for (const name of ['.DS_Store', '00000NaN.json', '7.json', '00000007 (1).json', '._00000007.json'])
      expect(parseNumberedKey(`shop/control/${name}`), name).toBeUndefined();
    for (const name of ['.DS_Store', '07/.DS_Store', '07/00000NaN', 'x7/00000001'])
      expect(parseVersionKey(`_ledgers/0a1b/ids/${name}`), name).toBeUndefined();
    for (const name of ['.DS_Store', '8-16.json~', '8-NaN.json', '._8-16.json'])
      expect(parseRangeKey(`shop/people/folded/${name}`), name).toBeUndefined();
    for (const name of ['.DS_Store', 'a.b.json', '0a1b.0000000x.json', '0a1b.2.json', '._0a1b.json'])
      expect(parseFileReceiptKey(`shop/files/${name}`), name).toBeUndefined();
    expect(isDocument('shop/receipts/0a1b2c3d4e5f/._00017.json')).toBe(false);
  });

  it('is never needed of one that was built from something else than a count', () => {
    for (const number of [Number.NaN, -1, 1.5, 2 ** 53]) {
      expect(() => keys.epoch(number)).toThrow(RangeError);
      expect(() => ledgerLayout('0a1b').turn(number)).toThrow(RangeError);
    }
  });

  it('yields the migration it belongs to', () => {
    for (const key of [keys.record, keys.control(1), keys.epoch(1), keys.receipt(PART), keys.resolved]) {
      expect(parseMigrationName(key)).toBe('shop.2024');
    }
  });

  it('tells documents from bodies', () => {
    const { body, description, receipt } = partKeys('shop/');
    expect([description(PART), receipt('0a1b2c3d4e5f', 1), keys.record].map(isDocument)).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      [
        body({ id: PART, sha256: SHA256 }),
        body({ id: PART, sha256: SHA256, packing: 'none' }),
        keys.rejectSegment(SEGMENT),
        keys.epoch(1),
      ].map(isDocument),
    ).toEqual([false, false, false, false]);
  });
});

describe('a literal of a key', () => {
  const ROOT = join(import.meta.dirname, '../..');
  /** A quote, a folder of staging with its slash, and an end or a placeholder. Imports name files in folders. */
  const FOLDER =
    /(?:['"`/]|\})(?:_migrations|_budgets|_plans|epochs|receipts|rejects|findings|people|parts|files)\/(?=['"`$])/;
  const OBJECT = /\b(?:control|report|progress)\.json\b|\.ndjson\.gz\b/;

  it('is in the folder of keys alone', () => {
    const holding = ['src', 'jobs', 'config', 'bench']
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
          join(folder, name),
        ),
      )
      .filter((path) => path.endsWith('.ts'))
      .filter((path) => {
        const code = readFileSync(join(ROOT, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
        return FOLDER.test(code) || OBJECT.test(code);
      });
    expect(holding).not.toEqual([]);
    expect(holding.filter((path) => !path.startsWith('src/state/keys/'))).toEqual([]);
  });
});
