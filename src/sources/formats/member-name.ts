/**
 * A member's name as it may stand in parts, reports and terminals: only a label, but `../../etc/x`,
 * `C:\x` and control characters have no business even there.
 */
export function harmlessName(name: string): string {
  const segments = name
    .replaceAll('\\', '/')
    .replace(/^[a-zA-Z]:/, '')
    .replace(/\p{Cc}/gu, '_')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
  return segments.join('/') || 'unnamed';
}
