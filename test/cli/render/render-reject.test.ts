import { expect, it } from 'vitest';
import { renderReject } from '../../../src/cli/render/render-reject.ts';

const reject = {
  file: 'a.zip',
  member: 'b.json',
  line: 5,
  part: 'p/00000',
  record: 4,
  reason: 'bad_timestamp',
  format: { kind: 'json' },
} as const;

it('a reject is read with its place, its reason and its own text, which steers no terminal', () => {
  const detail = 'the column "t" holds no time';
  expect(renderReject({ ...reject, detail, text: '{"t":"\u001b[2Jnever"}' })).toBe(
    'a.zip → b.json, line 5: bad_timestamp\n  the column "t" holds no time\n  {"t":"�[2Jnever"}\n',
  );
  expect(renderReject({ ...reject, detail, base64: '/w==' })).toContain('  /w== (base64');
  const large = { ...reject, detail, text: '{', oversize: { bytes: 9 * 1024 * 1024, sha256: '' } };
  expect(renderReject(large)).toContain('Of its 9.0 MiB only the beginning is kept:\n  {');
});
