import type { StepRequest } from '@stemma/api';
import { defined } from '@stemma/values';

/** A node to insert: `nodeType` is `cb` by default; a container has `children`. */
export type NodeAttributes = { readonly [attribute: string]: unknown };

/** The position to save; by default the one after the steps before, under a name made from that position. */
export type SaveOptions = {
  readonly name?: string;
  readonly description?: string;
  /** A reference: `@c4`, `@name:NAME`. */
  readonly at?: string;
};

/** How an actor's message enters the open cycle; by default at the end of `^ah`, with the kind `manual`. */
export type InjectOptions = Omit<StepOf<'inject'>, 'op' | 'text'>;

type StepOf<Op extends StepRequest['op']> = Extract<StepRequest, { op: Op }>;

/** Collects the steps of one command. Each method returns the batch, so that calls can be chained. */
export type Batch = {
  readonly steps: readonly StepRequest[];
  /** `parent`: an id, `^ah` or `^sys`. */
  insert(parent: string, node: NodeAttributes): Batch;
  /** Sets the given attributes: `content`, `content_*`, `data_*`. */
  replace(id: string, set: NodeAttributes): Batch;
  move(id: string, parent: string): Batch;
  remove(id: string): Batch;
  /** Ends the cycle and makes its snapshot. */
  commit(turnId?: string): Batch;
  /** Gives a name to the position after the steps before. */
  name(name: string): Batch;
  annotate(note: string): Batch;
  save(saveOptions?: SaveOptions): Batch;
  /** Only for an actor, and at most one in a command. */
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
    commit: (turnId) => add({ op: 'commit', ...defined({ turn_id: turnId }) }),
    name: (name) => add({ op: 'name', name }),
    annotate: (note) => add({ op: 'annotate', note }),
    save: ({ at, ...saving } = {}) => add({ op: 'save', ...saving, ...defined({ position: at }) }),
    inject: (text, how = {}) => add({ op: 'inject', text, ...how }),
  };
  return batch;
};
