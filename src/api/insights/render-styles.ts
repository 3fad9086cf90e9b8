export const INSIGHT_STYLES = '';
