import type { GenerationView } from '@stemma/row-store';
import type { CurrentGeneration } from './current-generation.ts';
import { readCurrent } from './read-current.ts';
import { inGeneration } from './repair.ts';

export type ReadOnceOptions = {
  readonly group: string;
  readonly current: CurrentGeneration;
  /** The view that is shown of that of a generation. */
  readonly view: (view: GenerationView, generation: string) => GenerationView;
  /** Resolves when the rows have what is in the log. */
  readonly catchUp: () => Promise<void>;
};

/** Reads of the current rows, which are built first if they were thrown away. @throws E_ROWS_DAMAGED, with their generation */
export const openReadOnce =
  ({ group, current, view: viewOf, catchUp }: ReadOnceOptions) =>
  async <T>(fn: (view: GenerationView) => T): Promise<T> => {
    const reading = (view: GenerationView, name: string): T => fn(viewOf(view, name));
    const known = current.latest();
    if (known?.readIfCurrent !== undefined) {
      try {
        const found = await known.readIfCurrent(group, (view) => reading(view, known.name));
        if (found !== undefined) return found.value;
      } catch (error) {
        throw inGeneration(error, known.name);
      }
    }
    const first = await current.find();
    // Another process has thrown damaged rows away: what is being built is no answer yet.
    if (first === undefined && current.wasFound()) await catchUp();
    // Awaited here, as a promise that is only handed on takes two turns more.
    return await readCurrent(first ?? (await current.get()), () => current.get(), reading);
  };
