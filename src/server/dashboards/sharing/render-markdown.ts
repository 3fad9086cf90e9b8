import MarkdownIt from 'markdown-it';

/**
 * Text tiles contain Markdown. HTML in it is shown as text, images are not loaded, and only links to web
 * and mail addresses become links.
 */
const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true }).disable('image');
markdown.validateLink = (url) => /^(?:https?:\/\/|mailto:)/i.test(url.trim());

markdown.core.ruler.push('fit_page', ({ tokens }) => {
  for (const token of tokens) {
    // The page has a heading of its own above these.
    if (token.type.startsWith('heading_')) token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + 1)}`;
    // The page's policy allows no style attributes, which columns of tables would get.
    const [, align] = /^text-align:(\w+)$/.exec(String(token.attrGet('style'))) ?? [];
    if (align !== undefined) token.attrs = [['class', `text-${align}`]];
    for (const child of token.children ?? []) {
      if (child.type !== 'link_open') continue;
      child.attrSet('rel', 'nofollow noopener noreferrer');
      child.attrSet('target', '_blank');
    }
  }
});

/** Safe HTML. */
export const renderMarkdown = (text: string): string => markdown.render(text);
