/** Writes files in MaxMind's format (https://maxmind.github.io/MaxMind-DB/), small ones for IPv4. */

type Value = string | number | { readonly [key: string]: Value } | readonly string[];

interface Node {
  /** By the next bit of an address: another node, or the number of a value. */
  readonly next: [Node | number | undefined, Node | number | undefined];
}

const SEPARATOR_BYTES = 16;
const METADATA_MARK = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

/** `networks`: by network, such as `81.2.69.0/24`. */
export function writeMmdb(networks: Readonly<Record<string, Value>>): Buffer {
  const root: Node = { next: [undefined, undefined] };
  const values = Object.values(networks);
  Object.keys(networks).forEach((network, index) => {
    const [address = '', bits = '32'] = network.split('/');
    const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    let node = root;
    for (let bit = 0; bit < Number(bits); bit += 1) {
      const side = Math.floor(number / 2 ** (31 - bit)) % 2 === 0 ? 0 : 1;
      if (bit === Number(bits) - 1) node.next[side] = index;
      else {
        const known = node.next[side];
        const next: Node = typeof known === 'object' ? known : { next: [undefined, undefined] };
        node.next[side] = next;
        node = next;
      }
    }
  });
  const nodes = listNodes(root);
  const encoded = values.map(encode);
  const offsets = encoded.map((_, index) =>
    encoded.slice(0, index).reduce((sum, { length }) => sum + length, 0),
  );
  const tree = Buffer.concat(
    nodes.flatMap(({ next }) =>
      next.map((to) => {
        const record = Buffer.alloc(3);
        const value =
          to === undefined
            ? nodes.length
            : typeof to === 'number'
              ? nodes.length + SEPARATOR_BYTES + (offsets[to] ?? 0)
              : nodes.indexOf(to);
        record.writeUIntBE(value, 0, 3);
        return record;
      }),
    ),
  );
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: 4,
    database_type: 'Test-City',
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    description: { en: 'test' },
  });
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR_BYTES), ...encoded, METADATA_MARK, metadata]);
}

function listNodes(root: Node): Node[] {
  const nodes: Node[] = [root];
  for (const node of nodes) for (const next of node.next) if (typeof next === 'object') nodes.push(next);
  return nodes;
}

/** Types of the format: 2 text, 6 unsigned number, 7 map, 11 list. */
function encode(value: Value): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) {
    return Buffer.concat([Buffer.from([value.length, 11 - 7]), ...value.map((item: string) => encode(item))]);
  }
  const entries = Object.entries(value as Record<string, Value>);
  return Buffer.concat([
    control(7, entries.length),
    ...entries.flatMap(([key, item]) => [encode(key), encode(item)]),
  ]);
}

/** Sizes of up to 28 fit in here. */
function control(type: number, size: number): Buffer {
  if (size < 29) return Buffer.from([(type << 5) | size]);
  return Buffer.from([(type << 5) | 29, size - 29]);
}
