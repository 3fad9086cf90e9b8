import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { fromBuffer } from 'yauzl';

/** Members by name as another zip reader finds them, in the order of the file. */
export async function readZip(path: string, wantsBodies = true): Promise<Map<string, Buffer>> {
  const file = await readFile(path);
  const members = new Map<string, Buffer>();
  return new Promise((resolve, reject) => {
    fromBuffer(file, { lazyEntries: true }, (failure, zip) => {
      if (failure) return reject(failure);
      zip.on('error', reject);
      zip.on('end', () => resolve(members));
      zip.on('entry', (entry) => {
        if (!wantsBodies) {
          members.set(entry.fileName, Buffer.alloc(0));
          return zip.readEntry();
        }
        zip.openReadStream(entry, (error, stream) => {
          if (error) return reject(error);
          const chunks: Buffer[] = [];
          stream.on('error', reject);
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            const body = Buffer.concat(chunks);
            if (crc32(body) !== entry.crc32) reject(new Error(`${entry.fileName}: wrong checksum`));
            members.set(entry.fileName, body);
            zip.readEntry();
          });
        });
      });
      zip.readEntry();
    });
  });
}
