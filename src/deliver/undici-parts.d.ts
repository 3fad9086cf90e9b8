/** Files of undici, which have no types of their own. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export = Pool;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  /** An iterable is read once the request has a connection, and before anything of it is written. */
  type Options = Omit<Dispatcher.RequestOptions, 'body'> & {
    body: Uint8Array | AsyncIterable<Uint8Array>;
  };
  /** What `Dispatcher.request` is once all of undici is loaded. */
  function request(this: Dispatcher, options: Options): Promise<Dispatcher.ResponseData>;
  export = request;
}
