import type { Queryable } from '../db.ts';

/** A table of this schema, with its names quoted for SQL. */
export interface Table {
  readonly name: string;
  /** Columns that are stored, not computed. */
  readonly columns: readonly string[];
  /** The column that the database numbers by itself. */
  readonly identity: string | undefined;
}

/** Tables of the schema itself, which every database makes for itself. */
const OWN = ['schema_migrations', 'database_move'];

/** Every table, those that others refer to first. */
export async function listTables(db: Queryable): Promise<Table[]> {
  const tables = await db.query<{ name: string; columns: string[]; identity: string | null }>(
    `select format('%I', c.relname) as name,
        array_agg(format('%I', a.attname) order by a.attnum) filter (where a.attgenerated = '') as columns,
        max(format('%I', a.attname)) filter (where a.attidentity <> '') as identity
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all ($1)
      group by c.relname order by c.relname`,
    [OWN],
  );
  const references = await db.query<{ from: string; to: string }>(
    `select format('%I', f.relname) as "from", format('%I', t.relname) as "to"
      from pg_constraint k
      join pg_class f on f.oid = k.conrelid
      join pg_class t on t.oid = k.confrelid
      where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and f.oid <> t.oid`,
  );
  const listed = tables.map(
    ({ identity, ...table }): Table => ({ ...table, identity: identity ?? undefined }),
  );
  return sortByReferences(listed, references);
}

/** Throws where tables refer to each other in a circle: rows of none of them could be stored first. */
export function sortByReferences<T extends { readonly name: string }>(
  tables: readonly T[],
  references: readonly { readonly from: string; readonly to: string }[],
): T[] {
  const sorted: T[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const isFree = ({ name }: T) => !references.some(({ from, to }) => from === name && names.has(to));
    const free = left.filter(isFree);
    if (free.length === 0) throw new Error(`tables refer to each other: ${[...names].join(', ')}`);
    sorted.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return sorted;
}
