import { pack, sha256, type Packable } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { z } from 'zod';
import { Step } from './steps/catalogue.ts';
import { count, id, nanoseconds } from './steps/fields.ts';

/** A secret that was replaced before the command was sent or decided: by which rule, how often, and where. */
const redaction = z.strictObject({
  /** The index of the step; null for the notes. */
  step: count.nullable(),
  /** A node by its id, or by its index among those that the step inserts; null for texts beside the tree. */
  node: z.union([count, id.max(512)]).nullable(),
  /** The attribute of the node, or what the step calls the text. */
  field: z.string().max(512),
  rule: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/),
  count: z.int().min(1),
});
export type Redaction = Readonly<z.infer<typeof redaction>>;

const author = z.union([
  z.strictObject({ recorder: z.string().min(1) }),
  z.strictObject({ actor: z.string().min(1) }),
]);

export const Command = z.strictObject({
  /** Made by the client: the same id with the same content has one effect, however often it is sent (record §3). */
  id: z.string().min(1).max(256),
  history: z.string().min(1).max(256),
  /** The branch that the command changes; 0 for a command that starts a history. */
  branchId: count,
  by: author,
  /** Refuse with E_CONFLICT unless this is the branch's newest frame. */
  expected: count.optional(),
  /** Refuse with E_CONFLICT unless the next frame of the history has this number. */
  next: count.optional(),
  /**
   * Replaces the clock's time of the command's nodes when a command is repeated (experiments): they get max(at_ns,
   * newest + 1). Steps with a time of their own keep it.
   */
  at_ns: nanoseconds.optional(),
  /** The actor's reason; a recorder gives none (pool: Interventions). */
  notes: z.string().optional(),
  /** Applied in order, all or none, in one frame. */
  steps: z.array(Step).min(1).max(100_000),
  /** What was taken out of it: recorded in the same frame. */
  redactions: z.array(redaction).max(100_000).optional(),
});

/** A request to change one branch. One command becomes one frame or one error. */
export type Command = Omit<z.infer<typeof Command>, 'by'> & { readonly by: Author };

/**
 * The command in an untrusted value.
 *
 * @throws E_COMMAND_INVALID with the path of the first fault.
 */
export const parseCommand = (value: unknown): Command => {
  const parsed = Command.safeParse(value);
  if (parsed.success) return parsed.data;
  const { at, sentence } = issueText(parsed.error.issues, 'the command');
  throw fail('E_COMMAND_INVALID', sentence, { at });
};

/**
 * SHA-256 of the canonical msgpack of the command without its id and `next`, which say nothing of its effect: it distinguishes a repeated command from another
 * (record §3). Of a redacted command it says nothing about the secrets, and it is the same whoever redacted it.
 */
export const commandDigest = (command: Command): Uint8Array => {
  const { id: _id, redactions: _redactions, next: _next, branchId, ...rest } = command;
  // The digested form calls the branch id `lineage`, as recorded frames do (record §1).
  return sha256(pack({ ...rest, lineage: branchId } as unknown as Packable));
};
