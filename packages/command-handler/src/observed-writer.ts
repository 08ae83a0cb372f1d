import type { Intent, Writer } from '@stemma/log';
import type { Progress } from '@stemma/projector';

/** Callbacks of a home, for counters. They must not throw. */
export type HomeObserver = {
  /** A command's frame is in the log; `events` is 0 if it was there before. */
  readonly written: (answer: { readonly repeated: boolean; readonly events: number }) => void;
  readonly failed: (error: unknown) => void;
  /** The number of frames that were sent and lost to frames of another writer. */
  readonly overtaken: (frames: number) => void;
  /** Rows were committed. */
  readonly folded: (progress: Progress) => void;
};

/** The same writer, which calls the observer with the outcome of each command. */
export const withObserver = <C>(writer: Writer<C>, observe: HomeObserver | undefined): Writer<C> =>
  observe === undefined
    ? writer
    : {
        ...writer,
        write: async (intent: Intent<C>) => {
          try {
            const accepted = await writer.write(intent);
            const { repeated, frame } = accepted;
            observe.written({ repeated, events: repeated ? 0 : (frame?.body.events.length ?? 0) });
            return accepted;
          } catch (error) {
            observe.failed(error);
            throw error;
          }
        },
      };
