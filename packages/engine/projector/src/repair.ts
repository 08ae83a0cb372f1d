import { fail, isStemmaError, type StemmaError } from '@stemma/errors';

/** Work on rows that are built again when they turn out to be damaged. */
export type Repair = {
  /**
   * What `work` gives. If it meets damaged rows, they are thrown away and built again, once for all who met them, and `work`
   * runs once more. While rows are built again nobody works on them.
   *
   * @throws E_ROWS_DAMAGED if they are damaged again. E_ROWS_BEHIND if building them takes longer than the caller may wait.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
};

export type RepairOptions = {
  /** Throws the damaged rows away and builds them again; it must not go through `run`. */
  readonly rebuild: (damage: StemmaError) => Promise<void>;
  /** Milliseconds that one who asks waits for it. Default: until it is done. */
  readonly timeout?: number;
};

export const openRepair = ({ rebuild, timeout }: RepairOptions): Repair => {
  let done = 0;
  let running: Promise<void> | undefined;

  const start = (damage: StemmaError): Promise<void> => {
    const mine = rebuild(damage).finally(() => {
      done++;
      running = undefined;
    });
    // Nobody may be waiting for it any more.
    mine.catch(() => undefined);
    return (running = mine);
  };
  const finished = async (work: Promise<void>): Promise<void> => {
    if (timeout === undefined) return work;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(fail('E_ROWS_BEHIND', 'the rows were damaged, and are being built again from the log')),
      timeout,
    );
    try {
      await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async run(work) {
      if (running !== undefined) await finished(running);
      const before = done;
      try {
        return await work();
      } catch (error) {
        if (!isStemmaError(error, 'E_ROWS_DAMAGED')) throw error;
        // Somebody else may have met the same damage, and repaired it since.
        if (running !== undefined) await finished(running);
        else if (done === before) await finished(start(error));
        return await work();
      }
    },
  };
};

/** The error with the generation, if it is damage that was found above the store. */
export const inGeneration = (error: unknown, generation: string): unknown =>
  isStemmaError(error, 'E_ROWS_DAMAGED') && !('generation' in error.detail)
    ? fail('E_ROWS_DAMAGED', error.message, { ...error.detail, generation })
    : error;
