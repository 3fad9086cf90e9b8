const long = 'x'.repeat(2_000);

/** Texts that UTF-8 does not tell apart, and what they could be taken for. */
export const ILL_FORMED: readonly string[] = [
  ...['x\ud800', 'x\ud801', 'x\udbff', 'x\udc00', 'x\udfff', '\ud800x', '\udc00\ud800', '\ud801\ud801'],
  ...[`${long}\ud800`, `${long}\ud801`],
  ...['x\ufffd', '\ufffdx', '\ufffd\ufffd', `${long}\ufffd`, '\ud83d\ude00'],
  ...['"x\\ud800"', 'ill-formed "x\\ud800"'],
];
