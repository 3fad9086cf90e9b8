import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly body: Buffer;
  readonly deflate?: boolean;
  readonly encrypted?: boolean;
  /** To damage a member. */
  readonly crc?: number;
}

/** A zip archive as the format describes it: local headers with bodies, directory, end record. */
export function writeZip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, body, deflate = false, encrypted = false, crc } of entries) {
    const stored = deflate
      ? deflateRawSync(body)
      : encrypted
        ? Buffer.concat([Buffer.alloc(12), body])
        : body;
    const nameBytes = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(encrypted ? 0x801 : 0x800, 2);
    common.writeUInt16LE(deflate ? 8 : 0, 4);
    common.writeUInt32LE(crc ?? crc32(body), 10);
    common.writeUInt32LE(stored.length, 14);
    common.writeUInt32LE(body.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), common, nameBytes, stored]);
    const central = Buffer.alloc(46);
    central.write('504b0102', 0, 'hex');
    central.writeUInt16LE(20, 4);
    common.copy(central, 6);
    central.writeUInt32LE(offset, 42);
    directory.push(central, nameBytes);
    parts.push(local);
    offset += local.length;
  }
  const directoryBytes = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('504b0506', 0, 'hex');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directoryBytes.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directoryBytes, end]);
}
