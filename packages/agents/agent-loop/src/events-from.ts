import type { Home } from '@stemma/home';
import type { LoggedEvent } from '@stemma/queries';

/** Frames that are read at a time. */
const PAGE = 1_000;

/** The accepted events of a history from a frame on, the oldest first. */
export async function* eventsFrom(
  home: Pick<Home, 'read'>,
  history: string,
  first = 0,
): AsyncGenerator<LoggedEvent> {
  for (let from = first; ;) {
    const page = await home.read.events(history, { from, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    from = last.seq + 1;
  }
}
