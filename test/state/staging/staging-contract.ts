import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { ConfigError, SourceError } from '../../../src/lib/errors.ts';

/** What every staging promises, whatever it is made of. `create` gives a new, empty one each time. */
export function stagingContract(name: string, create: () => Promise<Staging>): void {
  describe(`${name} as staging`, () => {
    let staging: Staging;
    beforeAll(async () => {
      staging = await create();
    });
    const keysUnder = async (prefix: string) => {
      const found: { key: string; bytes: number }[] = [];
      for await (const entry of staging.list(prefix)) found.push(entry);
      return found;
    };

    it('gives back exactly the bytes that were put, also none and a part of full size', async () => {
      for (const size of [0, 1, 70_000, 17 * 1024 * 1024]) {
        const body = randomBytes(size);
        const { etag } = await staging.put(`sizes/${size}`, body);
        expect(etag).not.toBe('');
        expect((await staging.get(`sizes/${size}`))?.equals(body)).toBe(true);
      }
    });

    it('takes plain Uint8Arrays that are views into larger memory', async () => {
      const whole = new Uint8Array([1, 2, 3, 4, 5]);
      await staging.put('views/a', whole.subarray(1, 3));
      expect(await staging.get('views/a')).toEqual(Buffer.from([2, 3]));
    });

    it('replaces a body that was there', async () => {
      await staging.put('replaced', Buffer.from('a longer old body'));
      await staging.put('replaced', Buffer.from('new'));
      expect(String(await staging.get('replaced'))).toBe('new');
    });

    it('says undefined for a key that is not there', async () => {
      expect(await staging.get('absent/deep/key')).toBeUndefined();
    });

    it('creates a key once and leaves its body alone afterwards', async () => {
      expect(await staging.create('once/a', Buffer.from('first'))).toBe(true);
      expect(await staging.create('once/a', Buffer.from('second'))).toBe(false);
      expect(String(await staging.get('once/a'))).toBe('first');
    });

    it('lets exactly one of 20 racers create a key, and keeps the winner’s body whole', async () => {
      for (const round of [1, 2, 3]) {
        const bodies = Array.from({ length: 20 }, (_, racer) => Buffer.alloc(50_000, racer));
        const won = await Promise.all(bodies.map((body) => staging.create(`race/${round}`, body)));
        expect(won.filter(Boolean)).toHaveLength(1);
        const winner = bodies[won.indexOf(true)];
        expect(winner && (await staging.get(`race/${round}`))?.equals(winner)).toBe(true);
      }
    });

    it('never shows half a body to a reader while it is replaced', async () => {
      const bodies = [Buffer.alloc(400_000, 1), Buffer.alloc(300_000, 2)] as const;
      await staging.put('swapped', bodies[0]);
      let writing = true;
      const written = (async () => {
        for (let round = 0; round < 10; round += 1) await staging.put('swapped', bodies[round % 2 ? 0 : 1]);
      })().finally(() => {
        writing = false;
      });
      let reads = 0;
      for (; writing; reads += 1) {
        const body = await staging.get('swapped');
        expect(body && bodies.some((whole) => whole.equals(body))).toBe(true);
      }
      await written;
      expect(reads).toBeGreaterThan(1);
    });

    it('reads exactly the range asked for', async () => {
      await staging.put('range', Buffer.from('0123456789'));
      expect(String(await staging.getRange('range', 0, 3))).toBe('012');
      expect(String(await staging.getRange('range', 7, 3))).toBe('789');
      expect(await staging.getRange('range', 4, 0)).toHaveLength(0);
    });

    it('fails a range of an object that is too short or gone, naming it', async () => {
      await staging.put('short', Buffer.from('0123456789'));
      await expect(staging.getRange('short', 8, 3)).rejects.toThrow(SourceError);
      await expect(staging.getRange('short', 50, 3)).rejects.toThrow(/short/);
      await expect(staging.getRange('short-gone', 0, 1)).rejects.toThrow(SourceError);
    });

    it('lists the keys of a prefix in key order with their sizes, past one page', async () => {
      const keys = Array.from({ length: 1_005 }, (_, index) => `many/${String(index).padStart(4, '0')}`);
      for (let from = 0; from < keys.length; from += 50) {
        await Promise.all(keys.slice(from, from + 50).map((key) => staging.put(key, Buffer.from('ab'))));
      }
      const found = await keysUnder('many/');
      expect(found.map(({ key }) => key)).toEqual(keys);
      expect(found.every(({ bytes }) => bytes === 2)).toBe(true);
    });

    it('orders by key where folders and longer names mix, and takes a prefix inside a name', async () => {
      const keys = ['mix/a-b/x', 'mix/a.json', 'mix/a/00000.gz', 'mix/a/00000.json', 'mix/a/1/2', 'mix/ab'];
      for (const key of keys.toReversed()) await staging.put(key, Buffer.from('x'));
      expect((await keysUnder('mix/')).map(({ key }) => key)).toEqual(keys);
      expect((await keysUnder('mix/a/')).map(({ key }) => key)).toEqual(keys.slice(2, 5));
      expect((await keysUnder('mix/a/0')).map(({ key }) => key)).toEqual(keys.slice(2, 4));
      expect(await keysUnder('mix/none/at/all')).toEqual([]);
    });

    it('removes a key, and does nothing where there is none', async () => {
      await staging.put('removed', Buffer.from('x'));
      await staging.remove('removed');
      await staging.remove('removed');
      expect(await staging.get('removed')).toBeUndefined();
    });

    it('refuses keys that could reach outside', async () => {
      for (const key of ['../a', 'a/../../b', '/etc/x', 'a//b', './a', '', 'a\\..\\b']) {
        await expect(staging.put(key, Buffer.from('x')), key).rejects.toThrow(ConfigError);
        await expect(staging.get(key), key).rejects.toThrow(ConfigError);
      }
    });

    it('says where it is', () => {
      expect(staging.location).toMatch(/^(folder |s3:\/\/)/);
    });
  });
}
