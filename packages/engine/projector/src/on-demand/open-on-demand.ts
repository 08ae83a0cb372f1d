import { fail } from '@stemma/errors';
import { partitionOf } from '@stemma/log';
import type { ReadModel } from '@stemma/read-models';
import type { Generation, GenerationView, RowReader, Scan } from '@stemma/row-store';
import { fetching, resume } from '@stemma/suspend';
import type { BatchLimits } from '../batch-limits.ts';
import type { FoldContext } from '../fold-frame.ts';
import { foldOnDemand } from './fold-on-demand.ts';
import { countUnfolded, ON_DEMAND, UNFOLDED, viewOnDemand } from './on-demand-rows.ts';

/** By history, the names of the read models on demand whose rows somebody has read. */
export type AskedModels = ReadonlyMap<string, ReadonlySet<string>>;

/** The read models on demand that are folded with every frame: all, or those for which this is true. */
export type Eager = 'all' | ((history: string, model: string) => boolean);

/** The read models that are folded with every frame, and those that are folded on demand. */
export const splitOnDemand = (
  models: readonly ReadModel[],
  eager: Eager,
): readonly [readonly ReadModel[], readonly ReadModel[]] => {
  const isEager = (model: ReadModel): boolean => eager === 'all' || model.onDemand !== true;
  return [models.filter(isEager), models.filter((model) => !isEager(model))];
};

export type OnDemandOptions = {
  /** The read models that are folded when somebody reads their rows. */
  readonly models: readonly ReadModel[];
  readonly context: FoldContext;
  /** Of the log. */
  readonly partitions: number;
  readonly limits: BatchLimits;
  /** A steady clock in milliseconds. */
  readonly now: () => number;
  /** True: nothing more is folded. */
  readonly stop: (() => boolean) | undefined;
  /** The current generation. */
  readonly generation: () => Promise<Generation>;
  /** Does work of a partition when no other is done there. */
  readonly inTurn: <T>(partition: number, work: () => Promise<T>) => Promise<T>;
};

/** Rows that are folded when somebody reads them. */
export type OnDemand = {
  /** The same view, where a read of rows that lack frames asks `reading` for them. */
  view(view: GenerationView): GenerationView;
  /** What `attempt` gives; it is called again after frames were folded that it has asked for. */
  reading<T>(attempt: () => Promise<T>): Promise<T>;
  /** How many frames of a history a read model lacks; undefined if it is folded with every frame. */
  lacking(history: string, model: ReadModel): ((rows: RowReader) => number) | undefined;
  /** The histories for which somebody has asked. */
  asked(scan: Scan): Promise<AskedModels>;
  /** Folds what they lack. @throws E_CANCELLED if it is stopped */
  fold(asked: AskedModels): Promise<void>;
};

export const openOnDemand = (options: OnDemandOptions): OnDemand => {
  const { models, context, limits, now, generation, inTurn } = options;
  const modelOf = new Map(models.flatMap((model) => model.tables.map((table) => [table, model] as const)));
  /** Folds in batches: in between others have a turn. */
  const foldHistory = async (history: string, some: readonly ReadModel[]): Promise<void> => {
    const partition = partitionOf(history, options.partitions);
    const batch = async (): Promise<boolean> =>
      foldOnDemand({
        generation: await generation(),
        context,
        partition,
        history,
        models: some,
        limits,
        now,
      });
    while (!(await inTurn(partition, batch)))
      if (options.stop?.() === true) throw fail('E_CANCELLED', 'the rows were closed while they were folded');
  };
  const unfolded = fetching(UNFOLDED, async (needs) => {
    for (const { history, model } of needs) await foldHistory(history, [model]);
  });
  return {
    view: (view) => (modelOf.size === 0 ? view : viewOnDemand(view, modelOf)),
    reading: (attempt) => (modelOf.size === 0 ? attempt() : resume(attempt, unfolded)),
    lacking: (history, model) =>
      models.includes(model) ? (rows) => countUnfolded(rows, history, model) : undefined,
    async asked(scan) {
      const asked = new Map<string, Set<string>>();
      if (models.length === 0) return asked;
      for await (const { key } of scan.entries(ON_DEMAND)) {
        const [history, model] = key;
        asked.set(history, (asked.get(history) ?? new Set()).add(model));
      }
      return asked;
    },
    async fold(asked) {
      for (const [history, names] of asked)
        await foldHistory(
          history,
          models.filter(({ name }) => names.has(name)),
        );
    },
  };
};
