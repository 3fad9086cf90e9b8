import { expect, test } from 'vitest';
import { MAX_MULTIPART_BYTES } from '../../../../src/server/capture/limits.ts';
import { isForm, readForm } from '../../../../src/server/capture/request/read-form.ts';

const urlEncoded = (text: string) => readForm(Buffer.from(text), 'application/x-www-form-urlencoded');
const multipart = (text: string) => readForm(Buffer.from(text), 'multipart/form-data; boundary=b');
const part = (name: string, value: string, more = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;

test('knows both kinds of form, with parameters and in any case', () => {
  expect(isForm('application/x-www-form-urlencoded; charset=UTF-8')).toBe(true);
  expect(isForm('Multipart/Form-Data; boundary=x')).toBe(true);
  expect(isForm('application/json')).toBe(false);
  expect(isForm('')).toBe(false);
});

test('reads the fields that say something, the last of each, and no others', async () => {
  const fields = await urlEncoded(
    'a=1&data=one&ver=2&data=%7B+%22x%22%3A%C3%A9%7D&compression=&token=t&&data2=3',
  );
  expect(fields).toEqual({ data: '{ "x":é}', compression: '', token: 't' });
});

test('reads what is no proper encoding as it stands', async () => {
  expect(await urlEncoded('data=100%&sent_at=%zz')).toEqual({ data: '100%', sent_at: '%zz' });
});

test('walks over a million fields that say nothing', async () => {
  expect(await urlEncoded(`${'a&'.repeat(1_000_000)}data=x`)).toEqual({ data: 'x' });
});

test('reads texts and files of a multipart form, the last of each field', async () => {
  const body = [
    part('data', 'one'),
    part('data', '{}', '; filename="blob"\r\nContent-Type: text/plain'),
    part('other', 'x'),
    part('api_key', 'k'),
  ];
  expect(await multipart(`${body.join('')}--b--\r\n`)).toEqual({ data: '{}', api_key: 'k' });
});

test('takes multipart forms of 4 MiB, and refuses larger ones unread', async () => {
  const around = part('data', '').length + '--b--\r\n'.length;
  const form = (bytes: number) => `${part('data', 'x'.repeat(bytes - around))}--b--\r\n`;
  expect((await multipart(form(MAX_MULTIPART_BYTES))).data).toHaveLength(MAX_MULTIPART_BYTES - around);
  await expect(multipart(form(MAX_MULTIPART_BYTES + 1))).rejects.toMatchObject({ status: 413 });
});

test.each([
  'x',
  '--b\r\nContent-Disposition: form-data\r\n\r\n--b--',
  `--b\r\n${'X: y\r\n'.repeat(1000)}--b--`,
])('refuses a broken multipart form: %#', async (text) => {
  await expect(multipart(text)).rejects.toMatchObject({ status: 400 });
});

test('refuses fields that are not UTF-8', async () => {
  const body = Buffer.concat([Buffer.from('data='), Buffer.from([0xff])]);
  await expect(readForm(body, 'application/x-www-form-urlencoded')).rejects.toMatchObject({ status: 400 });
});
