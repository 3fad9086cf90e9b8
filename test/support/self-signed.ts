import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A service of TLS that nobody has reason to trust: for `localhost`, by its own authority, for a hundred years. */
export async function startSelfSigned(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    request.resume().on('end', () => response.end('{"status":1}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDSfijZm2OkTzjdCC
DpoizMZ3+tUuSMk8T3hbhoEbLOChRANCAATgItkoLA3o4E7Z2U+M+14BJckVERHE
4fqKpEDkbkuPzEGHMxBJMJYli8PVy94U3QjifCqoKgJKjqiKXyfQnTqD
-----END PRIVATE KEY-----
`;

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUKBxyFGIr3z0UGebPqg6eUy13bSQwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNzE4NDM1NVoYDzIxMjYxMTAz
MTg0MzU1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATgItkoLA3o4E7Z2U+M+14BJckVERHE4fqKpEDkbkuPzEGHMxBJMJYl
i8PVy94U3QjifCqoKgJKjqiKXyfQnTqDo28wbTAdBgNVHQ4EFgQUjCz4UIgcluIt
wBcJIUTOCioO2DwwHwYDVR0jBBgwFoAUjCz4UIgcluItwBcJIUTOCioO2DwwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgCKy5mvWdsjPl4wyG+lOEV8vB0EAc8O0C9NrX6IrH6NUCIBgM
92H6Ms6v0kQqAaeIGKuArfAFElixOkz8HE+4/w/V
-----END CERTIFICATE-----
`;
