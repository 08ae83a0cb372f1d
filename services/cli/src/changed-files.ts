import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** After a change so many milliseconds pass before it is given: a program that writes a line writes the next one at once. */
const QUIET = 300;

/** Files of folders, as they are written: each list has every file that changed since the one before. Ends with the signal. */
export async function* changedFiles(
  folders: readonly string[],
  signal: AbortSignal,
): AsyncIterable<readonly string[]> {
  const changed = new Set<string>();
  let wake = (): void => undefined;
  const watchers = folders.map((folder) =>
    watch(folder, { recursive: true, signal }, (_event, name) => {
      if (name !== null) changed.add(join(folder, name));
      wake();
    }),
  );
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    while (!signal.aborted) {
      if (changed.size === 0) await Promise.race([ended, new Promise<void>((resolve) => (wake = resolve))]);
      await Promise.race([ended, setTimeout(QUIET, undefined, { ref: false })]);
      if (changed.size === 0) continue;
      const now = [...changed];
      changed.clear();
      yield now;
    }
  } finally {
    for (const watcher of watchers) watcher.close();
  }
}
