import { readRegularFile, replaceFileSync } from '@stemma/machine';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'server.json';

/** Milliseconds that a server has to answer. */
const PATIENCE = 1_000;

/** Notes in a home which address serves it; returns what takes the note back. */
export const noteServer = (directory: string, url: string): (() => void) => {
  const file = join(directory, FILE);
  const note = JSON.stringify({ url });
  try {
    replaceFileSync(file, note, { synced: false });
  } catch {
    // The note saves `stemma open` a server of its own, and nothing else.
  }
  return () => {
    try {
      // Another server of the same home may have noted itself since.
      if (noteIn(file) === note) rmSync(file);
    } catch {
      // There is none.
    }
  };
};

const noteIn = (file: string): string => readRegularFile(file).toString();

/** The address of the server of a home on this machine, if one is noted and answers. */
export const runningServer = async (directory: string): Promise<string | undefined> => {
  try {
    const { url } = JSON.parse(noteIn(join(directory, FILE))) as { readonly url?: unknown };
    if (typeof url !== 'string' || !/^http:\/\/(127\.0\.0\.1|\[::1\]|localhost):\d+$/.test(url))
      return undefined;
    const { ok } = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(PATIENCE) });
    return ok ? url : undefined;
  } catch {
    return undefined;
  }
};
