import { readText } from '../../sources/mapping/identity.ts';
import { createReadTime } from '../../sources/mapping/timestamp.ts';

export interface TimeGuess {
  /** As `mapping.timestamp.format` takes it. */
  readonly format: string;
  /** Another reading that fits every value as well: the sample has no day above the twelfth. */
  readonly orElse?: string;
  /** Values that were looked at. */
  readonly looked: number;
  /** Those of them that carry no zone, so that `timezone` matters. */
  readonly local: number;
  /** Those in another form, whose records are rejected. */
  readonly unread: number;
}

/** Of two that fit, the first is taken. An epoch fits one unit only: any other would be another century. */
const FORMATS = [
  'iso',
  'epoch_s',
  'epoch_ms',
  'epoch_us',
  'epoch_ns',
  'yyyy/MM/dd HH:mm:ss',
  'yyyy/MM/dd',
  'dd.MM.yyyy HH:mm:ss',
  'dd.MM.yyyy HH:mm',
  'dd.MM.yyyy',
  'd/M/yyyy HH:mm:ss',
  'M/d/yyyy HH:mm:ss',
  'd/M/yyyy HH:mm',
  'M/d/yyyy HH:mm',
  'd/M/yyyy h:mm:ss a',
  'M/d/yyyy h:mm:ss a',
  'd/M/yyyy h:mm a',
  'M/d/yyyy h:mm a',
  'd/M/yyyy',
  'M/d/yyyy',
  'dd-MM-yyyy HH:mm:ss',
  'MM-dd-yyyy HH:mm:ss',
  'dd-MMM-yyyy HH:mm:ss',
  'd MMM yyyy HH:mm:ss',
  'MMM d, yyyy h:mm:ss a',
  'MMM d, yyyy HH:mm:ss',
  'yyyyMMddHHmmss',
  'yyyyMMdd',
  'EEE, dd MMM yyyy HH:mm:ss ZZ',
  'EEE, d MMM yyyy HH:mm:ss ZZ',
  'dd/MMM/yyyy:HH:mm:ss ZZ',
] as const;

const readers = new Map<string, ReturnType<typeof createReadTime>>();
const getReader = (format: string) => {
  const known = readers.get(format);
  if (known) return known;
  const read = createReadTime(format, 'UTC');
  readers.set(format, read);
  return read;
};

/** The format in which all values can be read, or nearly all: a few that are broken become rejects. */
export function guessTime(values: readonly unknown[], share = 0.95): TimeGuess | undefined {
  if (values.length === 0) return undefined;
  const fitting = FORMATS.filter((format) => {
    const read = getReader(format);
    let left = values.length * (1 - share);
    for (const value of values) {
      if (read(value) !== undefined) continue;
      left -= 1;
      if (left < 0) return false;
    }
    return true;
  });
  const [format, second] = fitting;
  if (format === undefined) return undefined;
  const isTwin = second !== undefined && swapDays(format) === second;
  const read = values.filter((value) => getReader(format)(value) !== undefined);
  const isLocal = (value: unknown) => !ZONED.test((readText(value) ?? '').trim());
  return {
    format,
    looked: values.length,
    local: format.startsWith('epoch_') ? 0 : read.filter(isLocal).length,
    unread: values.length - read.length,
    ...(isTwin ? { orElse: second } : {}),
  };
}

const ZONED = /(?:z|utc|gmt|[+-]\d\d:?\d\d|T[^ ]*[+-]\d\d)$/i;
const swapDays = (format: string) => format.replace(/^d\/M/, 'M/d').replace(/^dd-MM-/, 'MM-dd-');
