/** To check and to commit a frame takes this part of the time of folding it. */
const COMMITTING = 0.4;
/** A history beyond so many is given to a thread by its name, and not remembered. */
const MOST_HISTORIES = 100_000;

/** What threads have to do, and which folds which history: the one that has least to do when a history first comes, and it alone from then on. */
export type ThreadLoads = {
  threadOf(history: string): number;
  /** A thread was given a frame of so many bytes. */
  given(place: number, bytes: number): void;
  /** All frames of a window were given. */
  windowGiven(window: number, bytes: number): void;
  folded(place: number, bytes: number): void;
  committed(window: number): void;
  /** What is not committed is forgotten. */
  reset(): void;
};

export const openThreadLoads = ({
  here,
  sealed,
  isSealed,
  areOpen,
}: {
  /** The place of the thread that commits too: those of the others are before it. */
  readonly here: number;
  /** The place of whoever has the keys. */
  readonly sealed: number;
  readonly isSealed: (history: string) => boolean;
  /** Whether the others can fold. */
  readonly areOpen: () => boolean;
}): ThreadLoads => {
  /** Bytes of frames that a thread has been given and has not folded; for this one also a part of those that it has not committed. */
  const load = Array.from({ length: here + 1 }, () => 0);
  const addLoad = (place: number, bytes: number): void => {
    if (place < load.length) load[place] = (load[place] as number) + bytes;
  };
  const uncommitted = new Map<number, number>();
  const threads = new Map<string, number>();
  return {
    threadOf(history) {
      const known = threads.get(history);
      if (known !== undefined) return known;
      if (isSealed(history)) return sealed;
      if (!areOpen()) return here;
      if (threads.size >= MOST_HISTORIES) return numberOf(history) % load.length;
      const place = load.indexOf(Math.min(...load));
      threads.set(history, place);
      return place;
    },
    given(place, bytes) {
      addLoad(place, bytes);
      addLoad(here, bytes * COMMITTING);
    },
    windowGiven: (window, bytes) => void uncommitted.set(window, bytes * COMMITTING),
    folded: (place, bytes) => addLoad(place, -bytes),
    committed(window) {
      addLoad(here, -(uncommitted.get(window) ?? 0));
      uncommitted.delete(window);
    },
    reset() {
      for (const bytes of uncommitted.values()) addLoad(here, -bytes);
      uncommitted.clear();
    },
  };
};

/** A number that a name always has. */
const numberOf = (name: string): number => {
  let number = 0;
  for (let i = 0; i < name.length; i++) number = (Math.imul(number, 31) + name.charCodeAt(i)) >>> 0;
  return number;
};
