import { expect, test } from 'vitest';
import { renderMarkdown } from '../../../../src/server/dashboards/sharing/render-markdown.ts';

test('the usual signs become headings, lists, tables, and lines stay apart', () => {
  expect(renderMarkdown('# Title\n\n**bold** and `code`\nnext')).toBe(
    '<h2>Title</h2>\n<p><strong>bold</strong> and <code>code</code><br>\nnext</p>\n',
  );
  expect(renderMarkdown('###### deep')).toBe('<h6>deep</h6>\n');
  expect(renderMarkdown('- a\n- b')).toContain('<li>a</li>');
  expect(renderMarkdown('|a|b|\n|-|-:|\n|1|2|')).toContain('<td class="text-right">2</td>');
});

test('links lead to web and mail addresses, and tell nothing to where they lead', () => {
  expect(renderMarkdown('[a](https://example.com/?q="x")')).toBe(
    '<p><a href="https://example.com/?q=%22x%22" rel="nofollow noopener noreferrer" target="_blank">a</a></p>\n',
  );
  expect(renderMarkdown('[a](mailto:ada@example.com)')).toContain('href="mailto:ada@example.com"');
  for (const url of [
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'java\nscript:alert(1)',
    '&#106;avascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.com',
    '/queues',
  ]) {
    expect(renderMarkdown(`[a](<${url}>) [b](${url})`)).not.toContain('<a ');
  }
});

test('HTML is shown and not made, and nothing is loaded', () => {
  for (const text of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<div onclick="x">\n\n<style>*{}</style>',
    '`<b>`',
    '```"><script>\n<script>\n```',
    '[a]: https://example.com "\\" onclick=x"\n\n[a]',
    '![a](https://example.com/x.png)',
    '<https://example.com/"onmouseover="x>',
  ]) {
    const html = renderMarkdown(text);
    const tags = [...html.matchAll(/<([a-z0-9]+)([^>]*)>/g)];
    for (const [, name] of tags) expect(['p', 'a', 'code', 'pre', 'br']).toContain(name);
    for (const [, , attributes = ''] of tags) {
      expect(attributes.replace(/ (?:href|title|rel|target|class)="[^"]*"/g, '')).toBe('');
    }
  }
});
