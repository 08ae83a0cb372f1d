import { pack, sha256, type Packable, type WideJson } from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import {
  AFTER_TIMEOUT,
  CALL_APIS,
  CALL_STATUSES,
  CallAddress,
  PromptSummary,
  CallUsage,
  INTERVENTIONS,
  OBSERVATIONS,
  RecordedBody,
  RELEASES,
  RUN_ENDS,
  SentRequest,
  SteeringChange,
  MOST_DIMENSION,
  MOST_VECTORS,
  embedderName,
  textHash,
  type Author,
} from '@stemma/events';
import { z } from 'zod';

/** Any JSON, with integers of any size; the decision checks which values it may have. */
const json = z.custom<WideJson>((value) => value !== undefined);
const object = z.custom<{ readonly [key: string]: WideJson }>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const id = z.string().min(1);
const count = z.int().min(0);
const nanoseconds = z.bigint().min(0n);
const position = z.strictObject({ branchId: count, seq: count });
const source = z.strictObject({ format: z.string(), sha256: z.string() });

/** The frames of the history are sealed under a key of its own, which `erase` destroys. */
const erasable = z.strictObject({ subject: z.string().min(1).max(256).nullable() });

/**
 * Starts a history: an empty tree. Regions without a given id are called `root`, `sys`, `seq`, `ah` (context-tree
 * §10.19).
 */
const start = z.strictObject({
  op: z.literal('start'),
  name: z.string().nullable(),
  ids: z
    .strictObject({ root: id.optional(), sys: id.optional(), seq: id.optional(), ah: id.optional() })
    .optional(),
  thread: z.enum(['full', 'pre']).optional(),
  source: source.nullable().optional(),
  erasable: erasable.optional(),
});

/** Starts a history with the state of an export, which is the snapshot of its own cycle (context-tree §10.17). */
const importExport = z.strictObject({
  op: z.literal('import'),
  name: z.string().nullable(),
  /** The text of the export. */
  export: z.string(),
  thread: z.enum(['full', 'pre']).optional(),
  source: source.nullable().optional(),
  salvaged: z.strictObject({ history: z.string(), seq: count }).nullable().optional(),
  erasable: erasable.optional(),
});

/**
 * Inserts a node with its children (`children`, containers only). `parent` is an id, or one of the words `^sys` and
 * `^ah`. A node without an `id` gets one made from its position. `at_ns` (imports only) replaces the clock's time: the
 * node gets max(at_ns, newest + 1).
 */
const insert = z.strictObject({
  op: z.literal('insert'),
  parent: id,
  node: object,
  /**
   * Further nodes for the same parent, inserted right after it with the same time: the pieces of one message
   * (context-tree §9).
   */
  siblings: z.array(object).optional(),
  at_ns: nanoseconds.optional(),
});

/** Sets the given attributes: `content`, `content_*`, `data_*`; null sets an explicit null (context-tree §10.10). */
const replace = z.strictObject({ op: z.literal('replace'), id, set: object });
/** Moves a node. An `offset` is refused with E_HEADER_IMMUTABLE: to change it, remove and insert (PACT 05 §4.5). */
const move = z.strictObject({ op: z.literal('move'), id, parent: id, offset: json.optional() });
const remove = z.strictObject({ op: z.literal('remove'), id });

/** Ends the cycle (context-tree §3). `at_ns` as for `insert`. */
const commit = z.strictObject({
  op: z.literal('commit'),
  turn_id: id.optional(),
  at_ns: nanoseconds.optional(),
});

/** Sets the pruning policy, or removes it. Checked when the command is decided. */
const policy = z.strictObject({ op: z.literal('policy'), policy: json });
const priorities = z.strictObject({
  op: z.literal('priorities'),
  priorities: z.array(z.strictObject({ id, priority: z.number() })),
});

/**
 * Names or annotates a position. The default is the branch's current position: after the earlier steps of the command
 * if they change the branch, else its tip before the command.
 */
const name = z.strictObject({ op: z.literal('name'), name: z.string(), position: position.optional() });
const annotate = z.strictObject({
  op: z.literal('annotate'),
  note: z.string(),
  position: position.optional(),
});

/** Saves a position with a description, under the given name or one made from its number. */
const save = z.strictObject({
  op: z.literal('save'),
  name: z.string().optional(),
  description: z.string().optional(),
  position: position.optional(),
});

/** Changes the general configuration; null removes a key. Keys of the policy change the policy. */
const config = z.strictObject({ op: z.literal('config'), set: object });

/** Starts a new branch at a position of any branch; the default is this branch's tip. Must be the only step. */
const fork = z.strictObject({
  op: z.literal('fork'),
  name: z.string().nullable().optional(),
  description: z.string().optional(),
  at: position.optional(),
});

/**
 * Rolls the branch back to an earlier position of its ancestor path: a new branch starts there and takes the name. The
 * abandoned branch keeps its id, and may get a name. Must be the only step.
 */
const rollback = z.strictObject({
  op: z.literal('rollback'),
  to: position,
  abandoned: z.string().nullable().optional(),
  description: z.string().optional(),
});

/**
 * Inserts an observer's message into the open cycle (pool: Interventions). At most one in a command. `retold`, here and below: what
 * another record says of the intervention, where it is imported.
 */
const inject = z.strictObject({
  op: z.literal('inject'),
  text: z.string(),
  /** Source of the message; default `manual`. */
  source: z.string().optional(),
  id: id.optional(),
  /** Default `^ah`. */
  parent: id.optional(),
  /** Default 0. */
  offset: z.int().optional(),
  role: z.string().optional(),
  kind: z.string().optional(),
  ttl: count.nullable().optional(),
  vector_id: count.optional(),
  retold: object.optional(),
});

/** Records that a model was asked about a position; nothing enters the branch. By an actor, and the only step. */
const query = z.strictObject({
  op: z.literal('query'),
  question: z.string(),
  answer: json,
  mind: z.string(),
  retold: object.optional(),
});

/** Records that a number of rounds ran on their own since a position. By an actor, and the only step. */
const run = z.strictObject({
  op: z.literal('run'),
  rounds: count,
  total_rounds_after: count,
  since: position.optional(),
  retold: object.optional(),
});

/**
 * Records what another record says of an intervention, which changes nothing here. The positions around it are `since` and `until`, by
 * default the tip. By an actor, and the only step.
 */
const retell = z.strictObject({
  op: z.literal('retell'),
  type: z.enum(INTERVENTIONS),
  retold: object,
  since: position.optional(),
  until: position.optional(),
});

/** Records what an actor looked at (pool: Observations), outside every branch. By an actor, and the only step. */
const observe = z.strictObject({
  op: z.literal('observe'),
  observations: z
    .array(
      z.strictObject({
        kind: z.enum(OBSERVATIONS),
        what: z.string(),
        at: position,
        times: z.int().min(1),
        first_at: nanoseconds,
        last_at: nanoseconds,
      }),
    )
    .min(1)
    .max(10_000),
});

/** The value of a header. */
const head = z.string().max(256).nullable();

/**
 * Records that a model is called with a position: after a commit in the same command with its snapshot, else with the branch's tip
 * unless another is given. `tools` null: those of the event `toolsAt`, if any. `own`: the own bytes of `request`, encoded as it
 * says. The id of the command is the attempt's. At most one in a command (calls §1).
 */
const startCall = z.strictObject({
  op: z.literal('start_call'),
  position: position.optional(),
  api: z.enum(CALL_APIS),
  model: z.string().max(512).nullable(),
  parameters: object,
  tools: z.array(json).nullable(),
  toolsAt: z.strictObject({ seq: count, index: count }).nullable(),
  request: RecordedBody.nullable(),
  /** How the next call is found; without it nobody looks for it. */
  prompt: PromptSummary.nullable().optional(),
  own: z.string().nullable(),
  /** How it goes out; without it nobody saw that. */
  sent: SentRequest.extend({
    origin: z.string().max(512).nullable(),
    path: z.string().max(2_048).nullable(),
    contentType: head,
    coding: head,
  })
    .nullable()
    .optional(),
  /** The request is not kept, as nobody could surely take secrets out of it. */
  withheld: z.literal(true).optional(),
  /** If observers steer the branch: the request as it came, and what of theirs is in it as it goes (calls §5). */
  steered: z
    .strictObject({
      request: RecordedBody.nullable(),
      own: z.string().nullable(),
      changes: z.array(SteeringChange).max(100_000),
      unsteered: z.string().max(1024).nullable(),
    })
    .optional(),
});

/** Records how an attempt ended. The id of the command is the attempt's with `.finished` behind it. */
const finishCall = z.strictObject({
  op: z.literal('finish_call'),
  attemptId: id,
  status: z.enum(CALL_STATUSES),
  httpStatus: z.int().min(100).max(999).nullable(),
  finishReason: z.string().max(512).nullable(),
  model: z.string().max(512).nullable(),
  usage: CallUsage.nullable(),
  firstByteMs: count.nullable(),
  durationMs: count.nullable(),
  error: z.strictObject({ code: z.string().max(512).nullable(), message: z.string().max(4096) }).nullable(),
  answer: json.nullable(),
  /** The messages of all choices of the answer but the first; without them nobody knows how many there are. */
  others: z.array(json).optional(),
  /** When the request began to go out, if its start was recorded before: milliseconds since 1970. */
  sentAt: count.nullable().optional(),
  response: RecordedBody.nullable(),
  head: z.strictObject({ contentType: head, coding: head, retryAfter: head }).nullable().optional(),
  own: z.string().nullable(),
  /** The response is not kept, as nobody could surely take secrets out of it. */
  withheld: z.literal(true).optional(),
});

/** Says that a call belongs elsewhere. By an actor; `list` and `brings` are those of its prompt. */
const reassignCall = z.strictObject({
  op: z.literal('reassign_call'),
  attemptId: id,
  to: CallAddress,
  prompt: z.strictObject({ list: z.string(), brings: z.array(z.string()) }).nullable(),
});

/** Says which call led to the conversation on the branch of the command. By an actor. */
const linkConversation = z.strictObject({ op: z.literal('link'), parent: CallAddress.nullable() });
/**
 * Records that a call waits before it goes out, with what the branch's tip shows. The id of the command is the attempt's with
 * `.held` behind it (calls §5).
 */
const holdCall = z.strictObject({
  op: z.literal('hold_call'),
  attemptId: id,
  api: z.enum(CALL_APIS),
  model: z.string().max(512).nullable(),
  breakpoints: z.array(id.max(128)).min(1).max(1_000),
  until: count,
  then: z.enum(AFTER_TIMEOUT),
});

/** Records that a held call waits no longer. The id of the command is the attempt's with `.released` behind it. */
const releaseCall = z.strictObject({
  op: z.literal('release_call'),
  attemptId: id,
  how: z.enum(RELEASES),
  message: z.string().max(4096).nullable(),
});

/** Asks that a pool runs on the branch. By an actor, and the only step; the id of the command is that of the run (pool: Runner). */
const requestRun = z.strictObject({
  op: z.literal('request_run'),
  rounds: z.int().min(1).max(1_000_000),
  checkpoint_every: z.int().min(1).optional(),
  tokens: z.int().min(1).optional(),
  cost: z
    .string()
    .regex(/^\d{1,18}(\.\d{1,18})?$/)
    .optional(),
  seconds: z.int().min(1).optional(),
});

/** Records that a runner makes the rounds of a run. */
const takeRun = z.strictObject({
  op: z.literal('take_run'),
  run: id.max(256),
  runner: z.string().max(256),
  round: count,
});

/** Ends a run. The id of the command is the run's with `.ended` behind it. The only step. */
const endRun = z.strictObject({
  op: z.literal('end_run'),
  run: id.max(240),
  how: z.enum(RUN_ENDS),
  why: z.string().max(4096),
  code: z.string().max(64).nullable(),
  rounds: count.nullable(),
});

/**
 * Records vectors of texts, which are named by the SHA-256 of their UTF-8 in hexadecimal (pool §1.7). `vectors`: base64 of their numbers in
 * the same order, single precision, little-endian. It changes no tree.
 */
const recordVectors = z.strictObject({
  op: z.literal('record_vectors'),
  embedder: embedderName,
  dimension: z.int().min(1).max(MOST_DIMENSION),
  texts: z.array(textHash).min(1).max(MOST_VECTORS),
  vectors: z.string(),
});

/** Destroys the key of an erasable history. By an actor, and the only step. */
const erase = z.strictObject({ op: z.literal('erase') });

export const Step = z.discriminatedUnion('op', [
  start,
  importExport,
  insert,
  replace,
  move,
  remove,
  commit,
  policy,
  priorities,
  name,
  annotate,
  save,
  config,
  fork,
  rollback,
  inject,
  query,
  run,
  retell,
  observe,
  startCall,
  finishCall,
  reassignCall,
  linkConversation,
  holdCall,
  releaseCall,
  requestRun,
  takeRun,
  endRun,
  recordVectors,
  erase,
]);
export type Step = z.infer<typeof Step>;
export type StepOf<Op extends Step['op']> = Extract<Step, { op: Op }>;

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
