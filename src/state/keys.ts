/** Records of all migrations, apart from their folders: listing them must not list every part. */
export const RECORDS = '_migrations/';

/** Where a migration keeps what it knows. One folder a migration; see ARCHITECTURE.md for the tree. */
export const layout = (name: string) => {
  const prefix = `${name}/`;
  return {
    prefix,
    record: `${RECORDS}${name}.json`,
    control: `${prefix}control.json`,
    report: `${prefix}report.json`,
    progress: `${prefix}progress.json`,
    epochs: `${prefix}epochs/`,
    epoch: (epoch: number) => `${prefix}epochs/${String(epoch).padStart(8, '0')}`,
    receipts: `${prefix}receipts/`,
    receipt: (part: string) => `${prefix}receipts/${part}.json`,
    rejects: `${prefix}rejects/`,
    rejectSegment: (segment: string) => `${prefix}rejects/${segment}.ndjson.gz`,
    findings: (segment: string) => `${prefix}findings/${segment}.gz`,
    resolvedFindings: `${prefix}people/findings/`,
    resolved: `${prefix}people/resolved/`,
    folded: `${prefix}people/folded/`,
  };
};
