/** Time between two looks at the requests that are open. */
const LOOK_EVERY_MS = 5_000;
/** Counted by the timer and not by a clock: a process that slept looks too late, and may have been answered. */
const SILENT_AFTER_LOOKS = 4;
const SILENT = `no answer for more than ${(LOOK_EVERY_MS * SILENT_AFTER_LOOKS) / 1_000} s`;

/** Reports a server that answers none of the requests to it. The requests are waited for as long as before. */
export interface Silence {
  /** While work is under way, an answer is awaited. */
  during<T>(doing: string, work: Promise<T>): Promise<T>;
  /** Of whatever request: a byte of a body is one, too. */
  noteAnswer(): void;
  /** Of a body that is being sent: what is silent already stays so until it answers. */
  noteProgress(): void;
  /** Why a request was not answered; undefined is forgotten with the next answer. */
  noteFailure(why: string): void;
}

/**
 * A server that takes connections and answers nothing makes a client wait for minutes, as one that is slow may.
 * `onChange` is called with why nothing comes, once that lasts, and with undefined at the next answer.
 */
export function watchSilence(
  describe: (doing: string, why: string) => string,
  onChange: (trouble: string | undefined) => void,
): Silence {
  const open = new Set<{ readonly doing: string }>();
  let looks = 0;
  let isSilent = false;
  let failure: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const look = () => {
    looks += 1;
    const [first] = open;
    if (isSilent || looks < SILENT_AFTER_LOOKS || !first) return;
    isSilent = true;
    onChange(failure ?? describe(first.doing, SILENT));
  };

  return {
    async during(doing, work) {
      const request = { doing };
      if (open.size === 0) {
        looks = 0;
        timer = setInterval(look, LOOK_EVERY_MS).unref();
      }
      open.add(request);
      try {
        return await work;
      } finally {
        open.delete(request);
        if (open.size === 0) clearInterval(timer);
      }
    },
    noteAnswer() {
      looks = 0;
      failure = undefined;
      if (!isSilent) return;
      isSilent = false;
      onChange(undefined);
    },
    noteProgress() {
      looks = 0;
    },
    noteFailure(why) {
      failure = why;
    },
  };
}
