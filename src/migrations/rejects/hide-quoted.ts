/** The detail of a reject without what a parser quotes of a record that cannot be read: it may be personal data. */
export const hideQuoted = (reason: string, detail: string): string =>
  reason === 'unreadable' ? detail.replace(/^(the record is not JSON) \(.*$/s, '$1') : detail;
