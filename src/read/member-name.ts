/**
 * A member's name as it may stand in parts, reports and terminals: only a label, but `../../etc/x`,
 * `C:\x` and control characters have no business even there.
 */
export function harmlessName(name: string): string {
  const segments = name
    .replaceAll('\\', '/')
    .replace(/^[a-zA-Z]:/, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '_')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
  return segments.join('/') || 'unnamed';
}
