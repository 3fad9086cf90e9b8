/**
 * A member's name as parts, reports and terminals may show it: only a label, but `../../etc/x`,
 * `C:\x` and control characters are unwanted even there.
 */
export function cleanName(name: string): string {
  const segments = name
    .replaceAll('\\', '/')
    .replace(/^[a-zA-Z]:/, '')
    .replace(/\p{Cc}/gu, '_')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
  return segments.join('/') || 'unnamed';
}
