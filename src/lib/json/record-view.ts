import { JsonToken, OBJECT, type ScannedText } from './json-token.ts';
import { parseJson } from './parse-json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Where the fields of a record are in its text. */
export class ScannedRecord implements ScannedText {
  /** Names of the fields that are noted. */
  readonly fields: ReadonlySet<string>;
  /** In the order of `fields`. */
  readonly tokens: readonly JsonToken[];
  bytes: Buffer = Buffer.alloc(0);
  readonly #byName: ReadonlyMap<string, JsonToken>;
  /** In the bytes, once it was scanned. */
  end = 0;
  #start = 0;

  constructor(fields: ReadonlySet<string>) {
    this.fields = fields;
    this.#byName = new Map([...fields].map((field) => [field, new JsonToken(this)]));
    this.tokens = [...this.#byName.values()];
  }

  begin(bytes: Buffer, start: number): void {
    this.bytes = bytes;
    this.#start = start;
    for (const token of this.tokens) token.isThere = false;
  }

  /** Whether the record has it is the token's to say. */
  findField(name: string): JsonToken | undefined {
    return this.#byName.get(name);
  }

  parse(): unknown {
    return parseJson(this.bytes.toString('utf8', this.#start, this.end));
  }
}

/**
 * A record whose fields are parsed when they are read: `record['name']` is what it would be of the parsed record,
 * for each of the fields that the scanner was told of. It has no other properties.
 */
export class RecordView {
  readonly #record: ScannedRecord;

  constructor(record: ScannedRecord) {
    this.#record = record;
  }

  static getRecord(view: RecordView): ScannedRecord {
    return view.#record;
  }

  static read(view: RecordView, at: number): unknown {
    const token = view.#record.tokens[at];
    return token?.isThere ? token.read() : undefined;
  }
}

/** One class for all records of a source: the code that reads them is compiled for it. */
const classes = new WeakMap<ReadonlySet<string>, typeof RecordView>();

export function createView(record: ScannedRecord): RecordView {
  const { fields } = record;
  let View = classes.get(fields);
  if (!View) {
    View = class extends RecordView {};
    for (const [at, field] of [...fields].entries()) {
      Object.defineProperty(View.prototype, field, {
        get(this: RecordView) {
          return RecordView.read(this, at);
        },
      });
    }
    classes.set(fields, View);
  }
  return new View(record);
}

/** The whole record as an object. */
export const parseWhole = (record: Fields): Fields =>
  record instanceof RecordView ? (RecordView.getRecord(record).parse() as Fields) : record;

/** A field of a record. One that is an object stays text where the record does. */
export function readField(record: Fields, name: string): unknown {
  if (!(record instanceof RecordView)) return record[name];
  const token = RecordView.getRecord(record).findField(name);
  if (!token?.isThere) return undefined;
  return token.kind === OBJECT ? token : token.read();
}
