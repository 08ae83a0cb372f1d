import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import type { CallAnswer, CommandAnswer, CommandRequest, StartRequest } from './commands.ts';
import type { PositionAnswer } from './summaries.ts';

type Written = {
  readonly by: { readonly recorder: string } | { readonly actor: string };
  readonly notes?: string;
};

/**
 * Who writes, as a command has it: a recorder, or an actor with notes.
 *
 * @throws E_ACTOR_REQUIRED, E_COMMAND_INVALID for both at once
 */
export const authorOfRequest = ({
  recorder,
  actor,
  notes,
}: Pick<CommandRequest, 'recorder' | 'actor' | 'notes'>): Written => {
  if (recorder !== undefined && actor !== undefined)
    throw fail('E_COMMAND_INVALID', 'recorder and actor are both given: a frame has one author');
  const said = notes === undefined ? {} : { notes };
  if (recorder !== undefined) return { by: { recorder }, ...said };
  if (actor === undefined) throw fail('E_ACTOR_REQUIRED', 'no author is given: give an actor or a recorder');
  return { by: { actor }, ...said };
};

type Requested = Written & {
  readonly id: string;
  readonly expected?: number;
  readonly redactions?: NonNullable<CommandRequest['redactions']>;
};

/** What a request says of its command, whatever it does: its id, its author, what it expects, what was taken out of it. */
export const commandOfRequest = ({
  id,
  expected,
  redactions,
  ...who
}: Omit<CommandRequest, 'steps'>): Requested => ({
  id,
  ...authorOfRequest(who),
  ...defined({ expected, redactions }),
});

/** The step that starts a history. */
export const startStep = ({
  name = null,
  thread,
  erasable,
}: Pick<StartRequest, 'name' | 'thread' | 'erasable'>): Readonly<Record<string, unknown>> => ({
  op: 'start',
  name,
  ...defined({ thread, erasable }),
});

/** A position as the API gives it. */
export const positionAnswer = (position: Readonly<PositionAnswer>): PositionAnswer => ({
  history: position.history,
  branch: position.branch,
  branchId: position.branchId,
  seq: position.seq,
  cycle: position.cycle,
  committed: position.committed,
  label: position.label,
});

type Came = {
  readonly position: Readonly<PositionAnswer>;
  readonly repeated: boolean;
  readonly events: readonly CommandAnswer['events'][number][];
};

/** What became of a command, as the API gives it. */
export const commandAnswer = ({ position, repeated, events }: Came): CommandAnswer => ({
  position: positionAnswer(position),
  repeated,
  events: [...events],
});

/** What became of a recorded call, as the API gives it. */
export const callAnswer = ({
  kept,
  replaced,
  removed,
  inserted,
  ...outcome
}: Came & Omit<CallAnswer, keyof CommandAnswer>): CallAnswer => ({
  ...commandAnswer(outcome),
  kept,
  replaced,
  removed,
  inserted,
});
