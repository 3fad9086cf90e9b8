/** What tests read from pages in Markdown. */

/** Without blocks and spans of code, whose brackets are no links. */
export const stripCode = (page: string): string =>
  page.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '`code`');

/** Targets of links and images. */
export const listLinks = (page: string): string[] =>
  [...stripCode(page).matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, target = '']) => target);

/** The anchors of its headings, as GitHub makes them. */
export const listAnchors = (page: string): string[] =>
  [...page.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
