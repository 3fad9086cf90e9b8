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
    const messages = await engine.execProtocolStream(
      Buffer.concat([
        serialize.bind({ statement: name, values }),
        serialize.describe({ type: 'P' }),
        serialize.execute({}),
        serialize.sync(),
      ]),
    );
    return (parse.parseResults(messages, engine.parsers)[0]?.rows ?? []) as Row[];
  }

  // Messages of two statements must not mix: one of them would get no rows.
  return (text, params) => engine.runExclusive(() => run(text, params));
}
