import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { measure } from '../measure.ts';
import type { Contender } from './contender.ts';

const CHUNK_BYTES = 512 * 1024;
const LF = 0x0a;

/** The least work of anything that parses records: inflate, find lines, parse, serialise. It sends nothing. */
export const runCeiling: Contender = async ({ input }) => {
  let records = 0;
  let serialised = 0;
  const processLine = (line: Buffer) => {
    records += 1;
    try {
      serialised += JSON.stringify(JSON.parse(line.toString('utf8'))).length;
    } catch {
      // The sample has lines that are not JSON.
    }
  };
  const whole = await measure(async () => {
    let carry: Buffer = Buffer.alloc(0);
    const file = createReadStream(input, { highWaterMark: CHUNK_BYTES });
    for await (const bytes of file.pipe(createGunzip({ chunkSize: CHUNK_BYTES })) as AsyncIterable<Buffer>) {
      const chunk = carry.length > 0 ? Buffer.concat([carry, bytes]) : bytes;
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        processLine(chunk.subarray(start, end));
        start = end + 1;
      }
      carry = chunk.subarray(start);
    }
    if (carry.length > 0) processLine(carry);
  });
  if (serialised === 0) throw new Error('nothing was serialised');
  return { records, sent: 0, phases: { whole } };
};
