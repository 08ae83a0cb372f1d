import type { WideJson } from '@stemma/canonical';
import type { HistoryEvent, InterventionType } from '@stemma/events';
import type { z } from 'zod';
import type { PendingFrame } from '../decide/pending-frame.ts';

/**
 * What may be secret in a field of a step.
 *
 * - `none`: nothing that anybody wrote: a number, a hash, one of a few words, an id that a program made.
 * - `name`: it cannot be replaced, so a command with a secret in it is refused. `{ names, of }`: several in one field.
 * - `{ as }`: a text or any JSON; what is secret in it is replaced, and recorded as taken out of the field with this name, of the node
 *   that the step inserts if it says so.
 * - `subtree`, `attributes`, `settings`, `export`: nodes to insert, attributes of the node `id`, a configuration by keys, an export.
 * - `{ each, as }`: that field of each of a list.
 * - `{ within, as }`: the texts that `within` gives to `replace`; all else of the value says nothing, also where its keys tell of secrets.
 */
export type Secret<Value> =
  | 'none'
  | 'name'
  | 'subtree'
  | 'attributes'
  | 'settings'
  | 'export'
  | { readonly names: string; readonly of: (value: Value) => readonly string[] }
  | { readonly as: string; readonly node?: number }
  | { readonly each: string; readonly as: string }
  | { readonly within: (value: Value, replace: (text: string) => string) => Value; readonly as: string };

/** A position that a recorded event names, as the answer to a reference in the step that led to it. */
export type RecordedPosition = { readonly branchId: number; readonly seq: number; readonly how?: string };

/** The events of a frame, one type after another: the next of a type that no step before has taken. */
export type RecordedEvents = <Type extends HistoryEvent['type']>(
  type: Type,
) => Extract<HistoryEvent, { type: Type }> | undefined;

/** Where a step may hold a reference (`@t-1`) until its command is resolved, and which event tells later what it meant. */
export type StepReference<Step> = {
  readonly field: Extract<keyof Step, string>;
  readonly recorded: (events: RecordedEvents, step: Step) => RecordedPosition | undefined;
};

/** How a step is offered to clients over HTTP: without the fields that only programs within give. */
export type Offered = { readonly without: readonly string[] };

/** All that is to be known of a step: what it is, who may take it, what it may stand beside, what it does. */
export type StepSpec<
  Op extends string,
  Schema extends z.ZodType<{ readonly op: Op }>,
  Request extends Offered | undefined = Offered | undefined,
> = {
  readonly op: Op;
  readonly schema: Schema;
  /** What it does to which branch: it starts the history; changes the command's branch; starts another one; or touches none. */
  readonly on: 'the start' | 'its branch' | 'a new branch' | 'no branch';
  /** The type of intervention that it is if an observer takes it (pool: Interventions); null: looking is none. */
  readonly kind: InterventionType | null | ((step: z.infer<Schema>) => InterventionType);
  /** It stands beside any other step without changing the type of the intervention. */
  readonly along?: true;
  /** It must be the only step of its command. */
  readonly alone?: true;
  /** It may be in a command once; the sentence says that. */
  readonly once?: string;
  /** It is an intervention: a recorder cannot take it. */
  readonly byActor?: true;
  /** Its frame is a snapshot; only steps that change neither the tree nor the configuration may follow in the same command. */
  readonly snapshot?: true;
  /** It may follow a snapshot in the same command. */
  readonly afterSnapshot?: true;
  /** Clients may ask for it over HTTP. */
  readonly request: Request;
  /** What the intervention records of it that no other event does. */
  readonly told?: (step: z.infer<Schema>) => { readonly [key: string]: WideJson };
  readonly reference?: StepReference<z.infer<Schema>>;
  /** The bodies that it does not keep, as nobody could surely take secrets out of them. */
  readonly withheld?: (step: z.infer<Schema>) => readonly ('request' | 'response')[];
  /** An answer for every field. Texts are replaced in this order. */
  readonly secrets: {
    readonly [Field in Exclude<keyof z.infer<Schema>, 'op'>]-?: Secret<NonNullable<z.infer<Schema>[Field]>>;
  };
  /**
   * The events for it. Each is applied before the next is asked for, so the branch is always what they made of it.
   *
   * @throws coded errors; Missing: fetch and decide again
   */
  readonly decide: (pending: PendingFrame, step: z.infer<Schema>) => Iterable<HistoryEvent>;
};

/** A step with the types of its schema. */
export const defineStep = <
  const Op extends string,
  Schema extends z.ZodType<{ readonly op: Op }>,
  const Request extends Offered | undefined = undefined,
>(
  spec: Omit<StepSpec<Op, Schema, Request>, 'request'> & { readonly request?: Request },
): StepSpec<Op, Schema, Request> => ({ ...spec, request: spec.request as Request });
