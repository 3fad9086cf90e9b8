import { open, rename, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/**
 * A zip whose members are compressed already (method 0). Beyond 65,535 members or 4 GiB the records of zip64
 * are added. Every date is 1980-01-01: same members, same bytes.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (4.3)
 */
export interface ZipMember {
  readonly name: string;
  readonly crc: number;
  readonly bytes: number;
  /** Offset of its local header. */
  readonly offset: number;
}

const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;
const UTF8_NAME = 0x0800;
const DOS_DATE = 0x0021;
const FLUSH_BYTES = 1 << 20;

/** The file gets its name once it is complete. */
export async function createZipWriter(path: string) {
  const partial = `${path}.partial`;
  const file = await open(partial, 'w');
  const members: ZipMember[] = [];
  let offset = 0;
  let pending: Buffer[] = [];
  let written = 0;
  const flush = async () => {
    const bytes = Buffer.concat(pending);
    pending = [];
    written += bytes.length;
    await file.writeFile(bytes); // appends
  };
  const write = async (bytes: Buffer) => {
    pending.push(bytes);
    offset += bytes.length;
    if (offset - written >= FLUSH_BYTES) await flush();
  };

  return {
    async add(name: string, body: Buffer): Promise<void> {
      const member: ZipMember = { name, crc: crc32(body), bytes: body.length, offset };
      members.push(member);
      await write(encodeLocalHeader(member));
      await write(body);
    },
    async close(): Promise<void> {
      const start = offset;
      for (const member of members) await write(encodeCentralHeader(member));
      await write(encodeEndRecords(members.length, start, offset - start));
      await flush();
      await file.close();
      await rename(partial, path);
    },
    async abandon(): Promise<void> {
      await file.close();
      await rm(partial, { force: true });
    },
  };
}

function encodeLocalHeader(member: ZipMember): Buffer {
  if (member.bytes >= MAX_32) throw new RangeError(`zip member ${member.name} is too large for this writer`);
  const name = Buffer.from(member.name);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(10, 4);
  writeShared(header, 6, member, name.length);
  return Buffer.concat([header, name]);
}

export function encodeCentralHeader(member: ZipMember): Buffer {
  const name = Buffer.from(member.name);
  const far = member.offset >= MAX_32;
  const extra = Buffer.alloc(far ? 12 : 0);
  if (far) {
    extra.writeUInt16LE(0x0001, 0);
    extra.writeUInt16LE(8, 2);
    extra.writeBigUInt64LE(BigInt(member.offset), 4);
  }
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(far ? 45 : 10, 4);
  header.writeUInt16LE(far ? 45 : 10, 6);
  writeShared(header, 8, member, name.length);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(Math.min(member.offset, MAX_32), 42);
  return Buffer.concat([header, name, extra]);
}

/** The fields from the flags to the length of the name, which both headers share. */
function writeShared(header: Buffer, at: number, { crc, bytes }: ZipMember, nameBytes: number): void {
  header.writeUInt16LE(UTF8_NAME, at);
  header.writeUInt16LE(DOS_DATE, at + 6);
  header.writeUInt32LE(crc, at + 8);
  header.writeUInt32LE(bytes, at + 12);
  header.writeUInt32LE(bytes, at + 16);
  header.writeUInt16LE(nameBytes, at + 20);
}

export function encodeEndRecords(members: number, start: number, bytes: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(members, MAX_16), 8);
  end.writeUInt16LE(Math.min(members, MAX_16), 10);
  end.writeUInt32LE(Math.min(bytes, MAX_32), 12);
  end.writeUInt32LE(Math.min(start, MAX_32), 16);
  if (members < MAX_16 && bytes < MAX_32 && start < MAX_32) return end;

  const end64 = Buffer.alloc(56);
  end64.writeUInt32LE(0x06064b50, 0);
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE(45, 12);
  end64.writeUInt16LE(45, 14);
  for (const [at, value] of [
    [24, members],
    [32, members],
    [40, bytes],
    [48, start],
  ] as const) {
    end64.writeBigUInt64LE(BigInt(value), at);
  }
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(start + bytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end]);
}
