import type { RejectLine } from '../../contract/progress.ts';
import { formatBytes, wrap } from '../../migrations/plan/format-text.ts';
import { printable } from './text-table.ts';

/** A rejected record for a person: where it was, why it was rejected, and its own text. */
export function renderReject(reject: RejectLine): string {
  const { file, member, line, reason, detail, stays, oversize, text, base64 } = reject;
  const place = `${file}${member ? ` → ${member}` : ''}, line ${line}`;
  return [
    ...wrap(`${place}: ${reason}`, '', '  '),
    ...wrap(detail, '  '),
    ...(stays ? ['  This one counts as delivered; it is kept because others share its id.'] : []),
    ...(oversize ? [`  Of its ${formatBytes(oversize.bytes)} only the beginning is kept:`] : []),
    `  ${printable(text ?? `${base64 ?? ''} (base64, as it is no text)`)}`,
    '',
  ].join('\n');
}
