import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url);

test('sending makes V8 optimize no WebAssembly', async () => {
  const script = `
    import { createServer } from 'node:http';
    import { compress, createSender, DEFAULT_SEND_TIMEOUTS } from ${JSON.stringify(
      new URL('dist/src/deliver/send.js', ROOT).href,
    )};
    const server = createServer((request, response) => request.resume().on('end', () => response.end('{"status":1}')));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const sender = createSender('http://127.0.0.1:' + server.address().port, 1, DEFAULT_SEND_TIMEOUTS);
    const body = await compress([Buffer.from('{}')]);
    for (let sent = 0; sent < 600; sent += 1) await sender.send(body, new AbortController().signal);
    await sender.close();
    server.close();`;
  const flags = ['--trace-wasm-compilation-times', '--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, flags, { cwd: fileURLToPath(ROOT) });
  // V8 says so on stdout, also of what it does when the program is over.
  expect(stdout).not.toMatch(/TurboFan/);
});
