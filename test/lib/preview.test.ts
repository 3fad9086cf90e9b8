import { expect, it } from 'vitest';
import { escapeControls } from '../../src/lib/errors.ts';
import { quoteName } from '../../src/lib/preview.ts';

it('escapes what would steer a terminal, and keeps lines, tabs and letters', () => {
  expect(escapeControls('a\u001b]0;pwned\u0007\u001b[2Jb\u0000\u007f\u009b')).toBe(
    'a\\u001b]0;pwned\\u0007\\u001b[2Jb\\u0000\\u007f\\u009b',
  );
  expect(escapeControls('left \u202eright\u2066\u2028')).toBe('left \\u202eright\\u2066\\u2028');
  const kept = 'première ligne\n\tzweite 😀 👩‍👧 عربي';
  expect(escapeControls(kept)).toBe(kept);
});

it('quotes a name on one line, and shortens it before it escapes', () => {
  expect(quoteName('us\u001ber\nid', 40)).toBe('"us\\u001ber\\nid"');
  expect(quoteName('\u0000'.repeat(50), 3)).toBe('"\\u0000\\u0000…"');
});
