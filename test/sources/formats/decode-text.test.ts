import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText, type Encoding } from '../../../src/sources/formats/decode-text.ts';

async function decode(bytes: Buffer, encoding?: Encoding, cuts: readonly number[] = []): Promise<Buffer> {
  async function* chunks() {
    let from = 0;
    for (const cut of [...cuts, bytes.length]
      .map((at) => Math.min(at, bytes.length))
      .toSorted((a, b) => a - b)) {
      if (cut > from) yield bytes.subarray(from, cut);
      from = Math.max(from, cut);
    }
  }
  const out: Buffer[] = [];
  for await (const chunk of decodeText(chunks(), encoding)) out.push(Buffer.from(chunk));
  return Buffer.concat(out);
}
const be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const BAD = '\ufffd';

test.each<[Encoding | undefined, Buffer, string]>([
  [undefined, Buffer.from('ä€'), 'ä€'],
  ['latin1', Buffer.from([0x61, 0xe4, 0xff, 0x80]), 'aäÿ\u0080'],
  ['windows-1252', Buffer.from([0x80, 0x85, 0x99, 0xe4, 0x9f]), '€…™äŸ'],
  ['windows-1252', Buffer.from([0x61, 0x81, 0x62]), `a${BAD}b`],
  ['utf-16le', Buffer.from('ä😀', 'utf16le'), 'ä😀'],
  ['utf-16be', be('ä😀'), 'ä😀'],
  // A mark is believed, whatever is declared.
  ['latin1', Buffer.from('\ufeffä'), 'ä'],
  ['windows-1252', Buffer.from('\ufeffä', 'utf16le'), 'ä'],
  ['utf-16le', be('\ufeffä'), 'ä'],
])('%s decodes %o as %s', async (encoding, bytes, text) => {
  expect((await decode(bytes, encoding)).toString('utf8')).toBe(text);
});

/** Of 0x80 to 0x9f, as Unicode's table CP1252.TXT has them. */
const C1 = [
  0x20ac, 0xfffd, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0xfffd,
  0x17d, 0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a,
  0x153, 0xfffd, 0x17e, 0x178,
];

test('every byte of windows-1252 is what its table says', async () => {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const expected = all.map((byte) => (byte < 0x80 || byte > 0x9f ? byte : (C1[byte - 0x80] ?? 0)));
  const text = (await decode(Buffer.from(all), 'windows-1252')).toString('utf8');
  expect(text).toBe(String.fromCodePoint(...expected));
});

test.each<[Encoding, Buffer]>([
  ['utf-16le', Buffer.from('a😀ä😀', 'utf16le')],
  ['utf-16be', be('a😀ä😀')],
  ['utf-8', Buffer.from('a😀ä😀')],
])('%s is cut within its characters, and each is whole', async (encoding, bytes) => {
  for (let cut = 1; cut < bytes.length; cut += 1)
    expect((await decode(bytes, encoding, [cut])).toString('utf8'), `at ${cut}`).toBe('a😀ä😀');
});

test('where chunks are cut changes nothing', async () => {
  const encoding = fc.constantFrom<Encoding>('latin1', 'windows-1252', 'utf-16le', 'utf-16be', 'utf-8');
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 40 }),
      encoding,
      fc.array(fc.nat(40)),
      async (bytes, of, cuts) => {
        const whole = Buffer.from(bytes);
        expect(await decode(whole, of, cuts)).toEqual(await decode(whole, of));
      },
    ),
  );
});
