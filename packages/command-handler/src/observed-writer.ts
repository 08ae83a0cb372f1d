import type { Intent, Writer } from '@stemma/log';
import type { Progress } from '@stemma/projector';

/** Told what a home does, by whoever counts it. Nothing of it may throw. */
export type HomeObserver = {
  /** A command has its place in the log; `events` is 0 where it had it before. */
  readonly written: (answer: { readonly repeated: boolean; readonly events: number }) => void;
  readonly failed: (error: unknown) => void;
  /** So many frames were sent whose place another writer took. */
  readonly overtaken: (frames: number) => void;
  /** Rows were committed. */
  readonly folded: (progress: Progress) => void;
};

/** The same writer, with what becomes of commands told. */
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
