import { type PGlite, parse, protocol } from '@electric-sql/pglite';
import type { Row, SqlValue } from './db.ts';

const { serialize } = protocol;

interface Prepared {
  readonly name: string;
  /** Types of its parameters. */
  readonly types: readonly number[];
}

/**
 * Runs statements that stay parsed and planned, in one call of the engine each. A statement that is not
 * prepared takes six calls, and parsing and planning are most of the time of a small one.
 */
export function createPreparedRuns(
  engine: PGlite,
): (text: string, params: readonly SqlValue[]) => Promise<Row[]> {
  const statements = new Map<string, Prepared>();

  async function prepare(text: string): Promise<Prepared> {
    const name = `backhaul_${statements.size}`;
    const described = await engine.execProtocolStream(
      Buffer.concat([
        serialize.parse({ name, text }),
        serialize.describe({ type: 'S', name }),
        serialize.sync(),
      ]),
      { syncToFs: false },
    );
    const prepared = { name, types: parse.parseDescribeStatementResults(described) };
    statements.set(text, prepared);
    return prepared;
  }

  async function run(text: string, params: readonly SqlValue[]): Promise<Row[]> {
    const { name, types } = statements.get(text) ?? (await prepare(text));
    const values = params.map((param, at) => {
      if (param === null || param instanceof Uint8Array) return param;
      const write: ((value: SqlValue) => string) | undefined = engine.serializers[types[at] ?? 0];
      return write === undefined ? String(param) : write(param);
    });
    const messages = await engine.execProtocolStream(writeRun(name, values));
    return (parse.parseResults(messages, engine.parsers)[0]?.rows ?? []) as Row[];
  }

  // Messages of two statements must not mix: one of them would get no rows.
  return (text, params) => engine.runExclusive(() => run(text, params));
}

const RUN = Buffer.concat([serialize.describe({ type: 'P' }), serialize.execute({}), serialize.sync()]);

const BIND = 'B'.charCodeAt(0);
/** Its length, which does not count the letter in front. */
const BIND_LENGTH_AT = 1;
const TEXT_FORMAT = 0;
const BINARY_FORMAT = 1;
const NULL_LENGTH = -1;
const INT16_BYTES = 2;
const INT32_BYTES = 4;

/**
 * Binds values to a prepared statement and runs it. The driver's own `bind` copies all values several times: 15 MB
 * for a batch of a thousand events, after most of which V8 collected the whole heap of this thread.
 */
function writeRun(statement: string, values: readonly (string | Uint8Array | null)[]): Uint8Array {
  const sizes = values.map((value) => (value === null ? NULL_LENGTH : Buffer.byteLength(value)));
  const valueBytes = sizes.reduce((sum, size) => sum + INT32_BYTES + Math.max(size, 0), 0);
  const bindBytes =
    BIND_LENGTH_AT +
    INT32_BYTES +
    '\0'.length + // the portal without a name
    Buffer.byteLength(statement) +
    '\0'.length +
    INT16_BYTES +
    INT16_BYTES * values.length +
    INT16_BYTES +
    valueBytes +
    INT16_BYTES;
  const bytes = Buffer.allocUnsafe(bindBytes + RUN.length);
  let at = bytes.writeUInt8(BIND, 0);
  at = bytes.writeInt32BE(bindBytes - BIND_LENGTH_AT, at);
  at += bytes.write(`\0${statement}\0`, at);
  at = bytes.writeUInt16BE(values.length, at);
  for (const value of values)
    at = bytes.writeInt16BE(value instanceof Uint8Array ? BINARY_FORMAT : TEXT_FORMAT, at);
  at = bytes.writeUInt16BE(values.length, at);
  values.forEach((value, index) => {
    at = bytes.writeInt32BE(sizes[index] ?? NULL_LENGTH, at);
    if (typeof value === 'string') at += bytes.write(value, at);
    else if (value !== null) {
      bytes.set(value, at);
      at += value.length;
    }
  });
  at = bytes.writeInt16BE(0, at); // results as text
  bytes.set(RUN, at);
  return bytes;
}
