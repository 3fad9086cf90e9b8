import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { MAX_DECODED_BYTES } from '../../../../src/server/capture/limits.ts';
import { decodeBody } from '../../../../src/server/capture/request/decode.ts';

const decode = async (bytes: Buffer): Promise<string> => {
  const { json } = await decodeBody({
    bytes,
    contentType: 'application/json',
    contentEncoding: 'gzip',
    compression: undefined,
    data: undefined,
  });
  return json.toString();
};

const text = (length: number) => `["${'x'.repeat(length - '[""]'.length)}"]`;
/** Letters that gzip cannot shorten as much as it can one that is repeated. */
const mixed = (length: number) =>
  `["${Array.from({ length }, (_, at) => String.fromCharCode(97 + ((at * at) % 23))).join('')}"]`;

/** Says another length at its end. */
function saying(length: number, packed: Buffer): Buffer {
  const changed = Buffer.from(packed);
  changed.writeUInt32LE(length, changed.length - 4);
  return changed;
}

test.each([
  ['a few bytes', mixed(10)],
  ['a piece of zlib', mixed(256 * 1024)],
  ['many pieces', mixed(3_000_000)],
  ['a text that gzip makes a thousand times shorter', text(3_000_000)],
  ['all that may be sent', text(MAX_DECODED_BYTES)],
])('unpacks %s', async (_what, sent) => {
  expect((await decode(gzipSync(sent))) === sent).toBe(true);
});

test('unpacks members one behind the other, of which the last says its own length alone', async () => {
  const [large, small] = [mixed(1_000_000), '   '];
  expect((await decode(Buffer.concat([gzipSync(large), gzipSync(small)]))) === large + small).toBe(true);
});

test.each([0, 1, 299_000, 301_000, 2 ** 32 - 1])(
  'refuses a body that says %i bytes of 300,004',
  async (said) => {
    await expect(decode(saying(said, gzipSync(mixed(300_000))))).rejects.toThrow(/decompress/);
  },
);

test('refuses what unfolds to more than may be sent, whatever length it says', async () => {
  const packed = gzipSync(text(MAX_DECODED_BYTES + 1_000_000));
  for (const body of [packed, saying(5, packed), packed.subarray(0, -8)])
    await expect(decode(body)).rejects.toThrow(expect.objectContaining({ status: 413 }));
});
