import { createReadStream } from 'node:fs';
import { createGunzip, gzipSync } from 'node:zlib';
import type { Contender } from './contender.ts';

const CHUNK_BYTES = 512 * 1024;
const BODY_BYTES = 1024 * 1024;
const GZIP_LEVEL = 2;
const LF = 0x0a;

/** Inflate and find lines: the least work of anything that reads the export. Nothing is sent. */
export const runGunzip: Contender = ({ input }) => readAll(input, () => {});

/** … and JSON.parse of each line. */
export const runParse: Contender = ({ input }) =>
  readAll(input, (line) => void JSON.parse(line.toString('utf8')));

/** … and JSON.stringify, and gzip of the texts: the least work of anything that sends compressed bodies. */
export const runSerialise: Contender = async ({ input }) => {
  let texts: string[] = [];
  let length = 0;
  const pack = () => {
    gzipSync(`[${texts.join(',')}]`, { level: GZIP_LEVEL, chunkSize: BODY_BYTES });
    texts = [];
    length = 0;
  };
  const result = await readAll(input, (line) => {
    const text = JSON.stringify(JSON.parse(line.toString('utf8')));
    texts.push(text);
    length += text.length;
    if (length >= BODY_BYTES) pack();
  });
  pack();
  return result;
};

async function readAll(input: string, processLine: (line: Buffer) => void) {
  let records = 0;
  let carry: Buffer = Buffer.alloc(0);
  const file = createReadStream(input, { highWaterMark: CHUNK_BYTES });
  for await (const bytes of file.pipe(createGunzip({ chunkSize: CHUNK_BYTES })) as AsyncIterable<Buffer>) {
    const chunk = carry.length > 0 ? Buffer.concat([carry, bytes]) : bytes;
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      records += 1;
      processLine(chunk.subarray(start, end));
      start = end + 1;
    }
    carry = chunk.subarray(start);
  }
  return { records, sent: 0 };
}
