import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  loadManifest,
  parseManifest,
  parseStoredManifest,
  readApiKey,
  readHashKey,
} from '../../../config/manifest/load-manifest.ts';
import { ConfigError, SourceError } from '../../../src/lib/errors.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-manifest-'));
});
afterAll(() => rm(folder, { recursive: true }));

const SMALLEST = 'name: a\nsource: { type: amplitude, from: x.zip }\n';

function findMistakes(text: string, env: Record<string, string> = {}): string[] {
  try {
    parseManifest(text, 'm.yaml', { env });
  } catch (error) {
    if (error instanceof ConfigError)
      return error.message
        .split('\n')
        .slice(1)
        .map((line) => line.trim());
    throw error;
  }
  throw new Error('the manifest was taken');
}

describe('loadManifest', () => {
  test('fills every default of the smallest manifest', async () => {
    const path = join(folder, 'smallest.yaml');
    await writeFile(path, SMALLEST);
    expect(await loadManifest(path, { env: {} })).toEqual({
      baseDir: folder,
      apiKey: undefined,
      secrets: [],
      manifest: {
        name: 'a',
        source: {
          type: 'amplitude',
          from: ['x.zip'],
          timezone: 'UTC',
          dropEvents: [],
          dropIp: false,
          keepSessionMarkers: false,
          elementEvents: 'keep',
          userPropertiesOnEvents: false,
        },
        limits: { requestsInFlight: 4, batch: { events: 1000, bytes: 5_242_880 } },
        rejects: { failAbove: '1%' },
        people: { overwrite: false, groupIdentifyEvent: '$group_identify' },
        persons: 'send',
        stamps: { importId: '$import_job_id', source: 'analytics_source' },
      },
    });
  });

  test('names the place of a manifest that is not there', async () => {
    const path = join(folder, 'gone.yaml');
    await expect(loadManifest(path, { env: {} })).rejects.toThrow(`There is no manifest at ${path}`);
    await expect(loadManifest(folder, { env: {} })).rejects.toThrow(ConfigError);
  });

  test('reads JSON as well, indented by tabs and with a $schema', () => {
    const json = JSON.stringify(
      { $schema: './manifest.schema.json', name: 'a', source: { type: 'amplitude', from: ['x.zip'] } },
      null,
      '\t',
    );
    expect(parseManifest(json, 'm.json', { env: {} })).toEqual(
      parseManifest(SMALLEST, 'm.yaml', { env: {} }),
    );
  });
});

describe('secrets', () => {
  const text = `${SMALLEST}destination: { url: "https://a.example.com", apiKey: "\${KEY}" }\n`;

  test('are named in the manifest and read beside it', () => {
    const { manifest, apiKey } = parseManifest(text, 'm.yaml', { env: { KEY: 'phc_hunter2' } });
    expect(apiKey).toBe('phc_hunter2');
    expect(JSON.stringify(manifest)).not.toContain('hunter2');
    expect(manifest.destination?.apiKey).toBe('${KEY}');
    expect(readApiKey(manifest, { KEY: 'other' })).toBe('other');
  });

  test('may be in a file', async () => {
    const path = join(folder, 'key');
    await writeFile(path, 'phc_from_file\n');
    expect(parseManifest(text, 'm.yaml', { env: { KEY_FILE: path } }).apiKey).toBe('phc_from_file');
  });

  test('are asked for by field and variable when they are missing', () => {
    expect(findMistakes(text)).toEqual([
      'm.yaml:3:54  destination.apiKey: the variable KEY is not set; set KEY, or KEY_FILE to a file that holds the value',
    ]);
    const { manifest } = parseManifest(text, 'm.yaml', { env: { KEY: 'x' } });
    expect(() => readApiKey(manifest, {})).toThrow(/Migration "a", destination\.apiKey: the variable KEY/);
  });

  test.each(['phc_written_here', '${KEY:-phc_written_here}', 'phc_${KEY}'])(
    'may not be written as %s',
    (written) => {
      const [mistake] = findMistakes(text.replace('${KEY}', written), { KEY: 'x' });
      expect(mistake).toContain('destination.apiKey: names the variable that holds the key');
    },
  );

  test('may not hide in the address', () => {
    const [mistake] = findMistakes(text.replace('https://', 'https://ada:pw@'), { KEY: 'x' });
    expect(mistake).toContain('destination.url: must not hold a user name or password');
  });
});

describe('variables', () => {
  const from = (written: string, env: Record<string, string> = {}) =>
    parseManifest(`name: a\nsource: { type: amplitude, from: '${written}' }`, 'm.yaml', { env }).manifest
      .source['from'];

  test('are filled in, with a default where one is given', () => {
    expect(from('s3://${BUCKET}/${PREFIX:-raw}/x', { BUCKET: 'b' })).toEqual(['s3://b/raw/x']);
    expect(from('s3://${BUCKET}/${PREFIX:-raw}/x', { BUCKET: 'b', PREFIX: 'p' })).toEqual(['s3://b/p/x']);
    expect(from('${EMPTY:-}x')).toEqual(['x']);
  });

  test('are put in once: what they hold is not looked into', () => {
    expect(from('${A}', { A: '${B}', B: 'no' })).toEqual(['${B}']);
  });

  test('can be written about with a doubled dollar', () => {
    expect(from('$${A}/$b')).toEqual(['${A}/$b']);
  });

  test('are all named when they are missing, and their fields are not complained about twice', () => {
    expect(findMistakes('name: ${NAME}\nsource: { type: amplitude, from: ["${A}/x", "${b c}"] }')).toEqual([
      'm.yaml:1:7  name: the variable NAME is not set; set NAME, or NAME_FILE to a file that holds the value',
      'm.yaml:2:35  source.from.0: the variable A is not set; set A, or A_FILE to a file that holds the value',
      'm.yaml:2:45  source.from.1: ${b c} names no variable; write ${NAME}, or $${ for a plain ${',
    ]);
  });
});

describe('mistakes', () => {
  test('are all named at once, each with its place', () => {
    const text = [
      'name: Amplitude 2019',
      'limit: {}',
      'eventsPerMinute: 5',
      'source:',
      '  type: amplitud',
      '  from: []',
      '  timezone: Europe/Berln',
      'destination:',
      '  url: ftp://x',
      'limits:',
      '  requestsInFlight: 0',
      '  batch: { evnts: 5, bytes: 50MiB }',
      'rejects: { failAbove: 101% }',
      'people:',
    ].join('\n');
    expect(findMistakes(text)).toEqual([
      'm.yaml:1:7  name: takes up to 63 of a-z, 0-9, "-", "_" and ".", and starts with a letter or digit',
      'm.yaml:2:1  limit: unknown key; did you mean "limits"?',
      'm.yaml:3:1  eventsPerMinute: unknown key; did you mean "limits.eventsPerMinute"?',
      'm.yaml:5:9  source.type: takes amplitude, segment, rudderstack, jsonl or csv, not "amplitud"; did you mean "amplitude"?',
      'm.yaml:6:9  source.from: must not be empty',
      'm.yaml:7:13  source.timezone: "Europe/Berln" is no IANA time zone; did you mean "Europe/Berlin"?',
      'm.yaml:8:1  destination.apiKey: is missing',
      'm.yaml:9:8  destination.url: takes an address that starts with https:// or http://',
      'm.yaml:11:21  limits.requestsInFlight: takes a whole number from 1 to 64',
      'm.yaml:12:12  limits.batch.evnts: unknown key; did you mean "events"?',
      'm.yaml:12:29  limits.batch.bytes: takes a size from 64KiB to 9MiB, such as 5MiB, 512KiB or a number of bytes',
      'm.yaml:13:23  rejects.failAbove: takes a share of all records such as 1% or 0.5%, or a number of records',
      'm.yaml:14:8  people: takes a block of keys, not nothing',
    ]);
  });

  test('in a declared mapping point at the key that was meant', () => {
    const text = [
      'name: a',
      'source:',
      '  type: csv',
      '  from: x.csv',
      '  mapping:',
      '    event: { colum: action }',
      '    distinctId: user',
      '    timestamp: { column: t, fromat: iso }',
    ].join('\n');
    expect(findMistakes(text)).toEqual([
      'm.yaml:6:5  source.mapping.event.column: is missing',
      'm.yaml:6:14  source.mapping.event.colum: unknown key; did you mean "column"?',
      'm.yaml:7:17  source.mapping.distinctId: takes a block of keys, not "user"',
      'm.yaml:8:29  source.mapping.timestamp.fromat: unknown key; did you mean "format"?',
    ]);
  });

  test('know which keys belong to the type of the source', () => {
    expect(findMistakes('name: a\nsource: { type: segment, from: x, elementEvents: keep }')[0]).toContain(
      'source.elementEvents: unknown key; known here: type, from, timezone, geoip, dropEvents, dropIp, groupType',
    );
  });

  test('ask for quotes around a number that should be a text', () => {
    expect(findMistakes('name: 2019\nsource: { type: amplitude, from: x }')).toEqual([
      'm.yaml:1:7  name: takes a text, not the number 2019; put it in quotes',
    ]);
  });

  test.each(['+02:00', 'GMT+2', '', 'Berlin'])('refuse %j as a zone', (zone) => {
    expect(findMistakes(`name: a\nsource: { type: amplitude, from: x, timezone: "${zone}" }`)[0]).toMatch(
      /is no IANA time zone; (did you mean "|write one such as UTC or Europe\/Berlin$)/,
    );
  });

  test('of a zone that is near to none, and of a delimiter of two characters, are whole sentences', () => {
    const source = 'type: csv, from: x, timezone: QQQQ, delimiter: ";;"';
    const mapping =
      'mapping: { event: { constant: x }, distinctId: { column: u }, timestamp: { column: t } }';
    const mistakes = findMistakes(`name: a\nsource: { ${source}, ${mapping} }`).join('\n');
    expect(mistakes).toContain('"QQQQ" is no IANA time zone; write one such as UTC or Europe/Berlin');
    expect(mistakes).toMatch(/source\.delimiter: takes one character, or tab$/m);
  });

  test('name a folder that was given in place of the manifest', async () => {
    await expect(loadManifest(tmpdir(), { env: {} })).rejects.toThrow(
      /is a folder; give the path of the YAML/,
    );
  });

  test('of syntax name the line', () => {
    expect(findMistakes('name: a\nname: b')).toEqual(['m.yaml:2:1  Map keys must be unique']);
    expect(findMistakes('name: [a')[0]).toMatch(/^m\.yaml:1:\d+ {2}/);
    expect(findMistakes('# nothing')).toEqual(['m.yaml:1:1  is empty']);
    expect(findMistakes('- a')[0]).toContain('the manifest: takes a block of keys, not a list');
  });

  test('of a batch that the budget never lets through', () => {
    const text = `${SMALLEST}limits: { eventsPerMinute: 500, batch: { events: 501 } }`;
    expect(findMistakes(text)).toEqual([
      'm.yaml:3:50  limits.batch.events: is more than limits.eventsPerMinute (500) lets through; lower it',
    ]);
  });
});

test('any damage to a manifest is taken or explained, never a crash', () => {
  const blocks = ['name', 'source', 'destination', 'limits', 'approval', 'rejects', 'people', 'other'];
  const keys = [
    'type',
    'from',
    'timezone',
    'mapping',
    'event',
    'column',
    'batch',
    'bytes',
    'url',
    'apiKey',
    '__proto__',
  ];
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'medium' },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom('csv', 'amplitude', 'https://a.example.com', '${KEY}', '${', '5MiB'),
      fc.dictionary(fc.constantFrom(...keys), tie('node'), { maxKeys: 5 }),
    ),
  })).node;
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...blocks), value, { maxKeys: 8 }), (document) => {
      try {
        parseManifest(JSON.stringify(document), 'm.json', { env: { KEY: 'x' } });
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        expect((error as Error).message).toMatch(/^m\.json has .+:\n( {2}m\.json:\d+:\d+ {2}[\s\S]+)$/);
      }
    }),
    { numRuns: 200 },
  );
});

describe('parseStoredManifest', () => {
  test('takes back what was stored, unchanged', () => {
    const { manifest } = parseManifest(
      `${SMALLEST}destination: { url: "https://a.example.com", apiKey: "\${KEY}" }\nlimits: { batch: { bytes: 512KiB } }`,
      'm.yaml',
      { env: { KEY: 'x' } },
    );
    expect(parseStoredManifest(JSON.parse(JSON.stringify(manifest)), 's3://b')).toEqual(manifest);
  });

  test('names the place of one that it does not know', () => {
    const read = () => parseStoredManifest({ name: 'a', colour: 'red' }, 's3://bucket/prefix');
    expect(read).toThrow(SourceError);
    expect(read).toThrow(/^s3:\/\/bucket\/prefix holds a manifest that this version/);
  });
});

describe('the key for hashing personal data', () => {
  const MANIFEST = `
name: a
source:
  type: csv
  from: x.csv
  mapping:
    event: { constant: Bought }
    distinctId: { column: email }
    timestamp: { column: t }
    hash: { columns: [email], key: "\${HASH_KEY}" }
`;

  test('is named in the manifest, read from the environment, and kept out of what is stored', async () => {
    const path = join(folder, 'hashing.yaml');
    await writeFile(path, MANIFEST);
    const loaded = await loadManifest(path, { env: { HASH_KEY: 'sixteen letters!' } });
    expect(loaded.secrets).toEqual(['sixteen letters!']);
    expect(JSON.stringify(loaded.manifest)).not.toContain('sixteen');
    expect(readHashKey(loaded.manifest, { HASH_KEY: 'sixteen letters!' })).toBe('sixteen letters!');
    expect(() => readHashKey(loaded.manifest, {})).toThrow('source.mapping.hash.key: the variable HASH_KEY');
  });

  test('must be there for a run, and not for a plan', () => {
    expect(() => parseManifest(MANIFEST, 'm.yaml', { env: {} })).toThrow(/hash.key: the variable HASH_KEY/);
    expect(parseManifest(MANIFEST, 'm.yaml', { env: {}, needsKey: false }).apiKey).toBeUndefined();
  });
});
