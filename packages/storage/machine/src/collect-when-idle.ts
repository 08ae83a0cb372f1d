import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Notes that something was done in this thread. */
export type NoteWork = () => void;

/** After so many milliseconds without work a thread is idle, and so much work is worth a collection. */
const IDLE = 10_000;
const LEAST = 100;

/**
 * Has V8 collect the garbage of this thread, and give its pages back to the system, when the thread has been idle for a while after much
 * work. V8 collects by what is allocated: whoever allocates nothing any more keeps all that the busiest moment left. Nobody
 * waits for an idle thread but the next request, for as long as a collection takes.
 *
 * @param options.idle milliseconds; a thread is found idle after at most twice as long
 */
export const collectWhenIdle = ({ idle = IDLE, collect = collectGarbage } = {}): NoteWork => {
  let work = 0;
  let before = 0;
  setInterval(() => {
    const isIdle = work === before;
    before = work;
    if (!isIdle || work < LEAST) return;
    work = before = 0;
    collect();
  }, idle).unref();
  return () => {
    work += 1;
  };
};

type Collector = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** Collects what can be collected: of all flavours this one gives pages back. */
export const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as Collector)({ type: 'major', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
};
