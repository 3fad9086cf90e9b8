const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const SHOWN_FIELDS = new Set(['level', 'time', 'msg']);

/** A log line as a person at a terminal reads it; elsewhere logs stay JSON. */
export function renderLogLine(line: string): string {
  try {
    const fields = JSON.parse(line) as Record<string, unknown>;
    const facts = Object.entries(fields)
      .filter(([name]) => !SHOWN_FIELDS.has(name))
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    return [`${LEVELS[Number(fields['level'])] ?? 'log'}: ${String(fields['msg'] ?? '')}`, ...facts].join(
      '  ',
    );
  } catch {
    return line.trimEnd();
  }
}
