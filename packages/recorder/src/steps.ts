import type { StepRequest } from '@stemma/api';

/** A node as it is given: `nodeType` is `cb` unless said; a container brings `children`. */
export type NodeAttributes = { readonly [attribute: string]: unknown };

/** What is saved: unless said, where the branch stands (after the steps before), under a name made from that position. */
export type SaveOptions = {
  readonly name?: string;
  readonly description?: string;
  /** A reference: `@c4`, `@name:NAME`. */
  readonly at?: string;
};

/** How an actor's message enters the open cycle. Unless said: at the end of `^ah`, `manual`. */
export type InjectOptions = Omit<StepOf<'inject'>, 'op' | 'text'>;

type StepOf<Op extends StepRequest['op']> = Extract<StepRequest, { op: Op }>;

/** The steps of one command, collected. Each gives itself back, so that they can be written in a row. */
export type Batch = {
  readonly steps: readonly StepRequest[];
  /** `parent`: an id, `^ah` or `^sys`. */
  insert(parent: string, node: NodeAttributes): Batch;
  /** Sets the attributes it names: `content`, `content_*`, `data_*`. */
  replace(id: string, set: NodeAttributes): Batch;
  move(id: string, parent: string): Batch;
  remove(id: string): Batch;
  /** Ends the cycle: what stands there is the snapshot. */
  commit(turnId?: string): Batch;
  /** Names the position after the steps before. */
  name(name: string): Batch;
  annotate(note: string): Batch;
  save(saveOptions?: SaveOptions): Batch;
  /** By an actor, and at most one in a command. */
  inject(text: string, how?: InjectOptions): Batch;
};

export const newBatch = (): Batch => {
  const steps: StepRequest[] = [];
  const add = (step: StepRequest): Batch => {
    steps.push(step);
    return batch;
  };
  const batch: Batch = {
    steps,
    insert: (parent, node) => add({ op: 'insert', parent, node: { nodeType: 'cb', ...node } }),
    replace: (id, set) => add({ op: 'replace', id, set: { ...set } }),
    move: (id, parent) => add({ op: 'move', id, parent }),
    remove: (id) => add({ op: 'remove', id }),
    commit: (turnId) => add({ op: 'commit', ...(turnId === undefined ? {} : { turn_id: turnId }) }),
    name: (name) => add({ op: 'name', name }),
    annotate: (note) => add({ op: 'annotate', note }),
    save: ({ at, ...saving } = {}) =>
      add({ op: 'save', ...saving, ...(at === undefined ? {} : { position: at }) }),
    inject: (text, how = {}) => add({ op: 'inject', text, ...how }),
  };
  return batch;
};
