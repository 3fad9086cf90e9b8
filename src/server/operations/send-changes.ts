import type { SSEStreamingApi } from 'hono/streaming';
import type { LiveValue } from './live-value.ts';
import type { Fragments } from './pages/page.ts';

/** A write finds out that a reader is gone without a word; proxies end connections that are silent for longer. */
const SILENT_TIMES = 15;

/** Sends what has changed since the last time, until the reader leaves or the server ends. */
export async function sendChanges<T>(
  events: SSEStreamingApi,
  live: LiveValue<T>,
  { render, closing }: { readonly render: (value: T) => Fragments; readonly closing: AbortSignal },
): Promise<void> {
  const sent = new Map<string, string>();
  let isAway = false;
  let silentTimes = 0;

  const listChanged = async (value: T): Promise<Record<string, string>> => {
    const changed: Record<string, string> = {};
    for (const [id, part] of Object.entries(render(value))) {
      const markup = String(await part);
      if (sent.get(id) === markup) continue;
      sent.set(id, markup);
      changed[id] = markup;
    }
    return changed;
  };
  const send = async (value: T | undefined): Promise<void> => {
    silentTimes += 1;
    if (isAway !== (value === undefined)) {
      isAway = !isAway;
      silentTimes = 0;
      const event = isAway ? 'away' : 'live';
      await events.writeSSE({ event, data: event });
    }
    const changed = value === undefined ? {} : await listChanged(value);
    if (Object.keys(changed).length > 0) {
      silentTimes = 0;
      await events.writeSSE({ data: JSON.stringify(changed) });
    } else if (silentTimes >= SILENT_TIMES) {
      silentTimes = 0;
      await events.write(': still here\n\n');
    }
  };

  await new Promise<void>((resolve) => {
    let isSending = false;
    const end = () => {
      stop();
      closing.removeEventListener('abort', end);
      resolve();
    };
    const stop = live.listen((value) => {
      // A reader who takes nothing must not fill the memory: the next value holds all that it missed.
      if (isSending) return;
      isSending = true;
      send(value).then(() => {
        isSending = false;
      }, end);
    });
    events.onAbort(end);
    closing.addEventListener('abort', end);
    if (closing.aborted) end();
  });
}
