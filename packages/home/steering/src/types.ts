import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { CallFacts, CallScope } from '@stemma/call-recording';
import type { Outcome } from '@stemma/command-handler';
import type { AfterTimeout, Author, CallApi, Release } from '@stemma/events';
import type { Breakpoint, Command, Step } from '@stemma/history';
import type { BranchRef, Position, TreeView } from '@stemma/history-store';
import type { DiffResult } from '@stemma/queries';
import type { RangeResult } from '@stemma/selectors';

/** What steering needs of a home. */
export type SteeredHome = {
  readonly catchUp: () => Promise<void>;
  readonly submit: (command: Command) => Promise<Outcome>;
  readonly position: (branch: BranchRef, ref?: string) => Promise<Position>;
  readonly view: (position: Position) => Promise<TreeView>;
  readonly select: (branch: BranchRef, selector: string) => Promise<{ readonly ids: readonly string[] }>;
  readonly range: (branch: BranchRef, selector: string) => Promise<RangeResult>;
  readonly diff: (branch: BranchRef, a: string, b: string, selector?: string) => Promise<DiffResult>;
};

/** What a call says instead of what its agent says. `replace`: its last message of a user or a tool has another content. */
export type MessageEdit =
  | { readonly what: 'replace'; readonly content: WideJson }
  | { readonly what: 'inject'; readonly role: string; readonly text: string };

/** What is changed of one call before it goes out. Observers' changes to its branch are in it too, and no breakpoint holds it. */
export type CallChange = {
  /** Who has it changed, and why. */
  readonly by: ActorWithNotes;
  /** Recorded as an intervention, so that it is in the later calls of a steered branch, too; null: none. */
  readonly edit: MessageEdit | null;
  /** Fields of the body that are other ones; null takes one away. Null: all are as they came. */
  readonly set: WideJsonObject | null;
};

/** A call that is about to go out. */
export type OutgoingCall = {
  readonly id: string;
  readonly by: Author;
  readonly within?: CallScope;
  /** True: a history that it begins is in mode `steer`. */
  readonly steer: boolean;
  readonly api: Exclude<CallApi, 'other'>;
  readonly said: Pick<CallFacts, 'model' | 'parameters' | 'tools' | 'sent' | 'session' | 'run'> & {
    readonly messages: readonly WideJson[];
  };
  /** The body as it came, and without its content coding. */
  readonly body: Uint8Array;
  readonly plain: Uint8Array;
  readonly change?: CallChange;
};

/** What becomes of a call. */
export type SteeredCall =
  /** Nobody steers its branch: it is recorded as every other. */
  | { readonly kind: 'untouched' }
  /** It goes out, and is recorded. `body`: what is sent in place of what came, without a content coding; null: that. */
  | {
      readonly kind: 'sent';
      readonly branch: { readonly history: string; readonly branchId: number };
      readonly body: Uint8Array | null;
      /** Resolves when it is recorded. */
      readonly recorded: Promise<unknown>;
    }
  /** It goes out as it came, although its branch is steered. */
  | { readonly kind: 'unsteered'; readonly reason: string }
  /** It does not go out. */
  | {
      readonly kind: 'ended';
      readonly branch: { readonly history: string; readonly branchId: number };
      readonly how: 'aborted' | 'cancelled';
      readonly message: string;
    };

/** A call that waits before it goes out, or waited. */
export type HeldCall = {
  readonly history: string;
  readonly branch: string;
  readonly branchId: number;
  readonly attemptId: string;
  /** The position that shows what the model would be shown. */
  readonly seq: number;
  readonly cycle: number;
  readonly api: CallApi;
  readonly model: string | null;
  /** The breakpoints that hold it. */
  readonly breakpoints: readonly string[];
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  readonly then: AfterTimeout;
  readonly released: {
    readonly at: number;
    readonly how: Release;
    readonly by: string | null;
    readonly message: string | null;
  } | null;
};

export type NamedBreakpoint = { readonly name: string; readonly breakpoint: Breakpoint };

/** Who does it, and why. */
export type ActorWithNotes = { readonly actor: string; readonly notes?: string };

/** Calls that observers steer (calls §5). */
export type Steering = {
  /**
   * Puts the changes of observers into a call, and holds it where a breakpoint says so. It is recorded before it goes out.
   *
   * @param gone aborts when the client is gone @param retry waits for a log that is away
   */
  readonly call: (
    call: OutgoingCall,
    gone: AbortSignal,
    retry: <T>(work: () => Promise<T>) => Promise<T>,
  ) => Promise<SteeredCall>;
  /** Histories with a branch that is steered, or may be, and the scopes in which their calls are found. */
  readonly scopes: () => Promise<{
    readonly histories: readonly string[];
    readonly scopes: readonly string[];
  }>;
  /** Turns the mode of a branch on or off. */
  readonly set: (branch: BranchRef, on: boolean, act: ActorWithNotes) => Promise<Outcome>;
  readonly isOn: (branch: BranchRef) => Promise<boolean>;
  readonly breakpoints: (branch: BranchRef) => Promise<readonly NamedBreakpoint[]>;
  /** @returns its name @throws E_SELECTOR_INVALID, E_CONFIG_INVALID */
  readonly addBreakpoint: (
    branch: BranchRef,
    breakpoint: Breakpoint,
    act: ActorWithNotes,
    name?: string,
  ) => Promise<string>;
  /** @throws E_CONFIG_INVALID if there is none of this name */
  readonly removeBreakpoint: (branch: BranchRef, name: string, act: ActorWithNotes) => Promise<Outcome>;
  /** The calls that wait, of one history or of all; `all`: of a history, also those that were released. */
  readonly held: (history?: string, options?: { readonly all?: boolean }) => Promise<readonly HeldCall[]>;
  /** @throws E_CALL_NOT_HELD */
  readonly release: (
    history: string,
    attemptId: string,
    how: { readonly abort: boolean; readonly message?: string },
    act: ActorWithNotes,
  ) => Promise<HeldCall>;
  /** Records that the process is gone that held a call, if one did. */
  readonly lose: (attemptId: string) => Promise<void>;
  /**
   * The steps that give a block another content: it is replaced where it can be; a block of a sealed turn gives way to a new
   * one in its place. @throws E_NODE_NOT_FOUND, E_SEALED if the place cannot be kept
   */
  readonly editSteps: (
    branch: BranchRef,
    edits: ReadonlyMap<string, WideJson>,
    at?: Position,
  ) => Promise<readonly Step[]>;
  /**
   * Refuses a command that takes one half of a tool call and its result from a steered branch. @param forked the position that the
   * branch would be forked at; by default it is there @throws E_TOOL_PAIR
   */
  readonly check: (command: Command, forked?: Position) => Promise<void>;
  readonly close: () => void;
};
