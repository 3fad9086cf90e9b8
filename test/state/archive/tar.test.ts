import { describe, expect, it } from 'vitest';
import { encodeTarFile, readTar, TAR_END, type TarFile } from '../../../src/state/archive/tar.ts';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readAll(bytes: Buffer, size = bytes.length): Promise<TarFile[]> {
  const files: TarFile[] = [];
  for await (const file of readTar(inPieces(bytes, size))) files.push(file);
  return files;
}

const FILES: TarFile[] = [
  { name: 'a', body: Buffer.from('1') },
  { name: 'empty', body: Buffer.alloc(0) },
  { name: 'a block', body: Buffer.alloc(512, 'x') },
  { name: `${'folder/'.repeat(20)}${'n'.repeat(90)}`, body: Buffer.alloc(1300, 'y') },
];
const whole = Buffer.concat([...FILES.flatMap(encodeTarFile), TAR_END]);

/** With its sum corrected, so that only what was changed is wrong. */
function change(bytes: Buffer, at: number, value: string): Buffer {
  const changed = Buffer.from(bytes);
  changed.write(value, at, 'latin1');
  let sum = 0;
  for (const [index, byte] of changed.subarray(0, 512).entries())
    sum += index >= 148 && index < 156 ? 32 : byte;
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return changed;
}

describe('a tar', () => {
  it.each([1, 7, 511, 512, 513, 100_000])(
    'is read as it was written, in pieces of %i bytes',
    async (size) => {
      expect(await readAll(whole, size)).toEqual(FILES);
    },
  );

  it.each([0, 1, 511, 512, 513, 1024, whole.length - 1025])(
    'is refused when it ends at byte %i',
    async (end) => {
      await expect(readAll(whole.subarray(0, end))).rejects.toThrow('it ends too early');
    },
  );

  it('is refused with a changed header, a link, or a size that no memory has', async () => {
    const damaged = Buffer.from(whole);
    damaged.write('b', 0);
    await expect(readAll(damaged)).rejects.toThrow('a header in it is damaged');
    await expect(readAll(change(whole, 156, '2'))).rejects.toThrow('"a" in it is no file');
    await expect(readAll(change(whole, 124, '77777777777'))).rejects.toThrow('"a" in it is too large');
  });

  it('takes no name that other programs would cut', () => {
    expect(() => encodeTarFile({ name: 'n'.repeat(101), body: Buffer.alloc(0) })).toThrow(
      'too long for a tar',
    );
  });
});
