import { openHome, type Home } from '@stemma/home';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { session } from './agent.ts';

/** Raise it when other events come out: a log of an older number is made anew. */
const VERSION = 1;

/** A log of many sessions, and what is in it. */
export type Sessions = {
  readonly version: number;
  readonly events: number;
  readonly frames: number;
  readonly histories: number;
};

/** Sessions that are under way at once: their commands share what makes them durable. */
const AT_ONCE = 16;

const play = async (home: Home, number: number): Promise<{ events: number; frames: number }> => {
  let events = 0;
  let frames = 0;
  for (const command of session(number)) {
    events += (await home.submit(command)).events.length;
    frames += 1;
  }
  return { events, frames };
};

/** Records whole sessions until there are at least this many events. */
export const generate = async (input: {
  readonly directory: string;
  readonly events: number;
}): Promise<Sessions> => {
  const home = await openHome({ directory: join(input.directory, 'home'), create: true });
  const made = { version: VERSION, events: 0, frames: 0, histories: 0 };
  const record = async (): Promise<void> => {
    while (made.events < input.events) {
      const number = made.histories;
      made.histories += 1;
      const { events, frames } = await play(home, number);
      made.events += events;
      made.frames += frames;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, record));
  await home.close();
  writeFileSync(join(input.directory, 'sessions.json'), JSON.stringify(made));
  return made;
};

/** What was recorded in a folder, if it was finished and by this version. */
export const generated = (directory: string): Sessions | null => {
  try {
    const found = JSON.parse(readFileSync(join(directory, 'sessions.json'), 'utf8')) as Sessions;
    return found.version === VERSION ? found : null;
  } catch {
    return null;
  }
};
