/** Why a call differs from the recorded one. */
export type Cause =
  | 'parameters'
  | 'tools'
  | 'prompt'
  | 'question'
  | 'tool result'
  | 'answer edited'
  | 'history shortened'
  | 'order';

/** What a result answers: the tool, what it was called with, and the call that asked for it. */
export type AskedBy = {
  readonly tool: string;
  readonly arguments: string;
  /** The label of the asking call; null: it is not of this recording. */
  readonly call: string | null;
};

/** The first message, parameter or tool that a call and a recorded one differ in. */
export type Difference = {
  /** The label of the recorded call. */
  readonly of: string;
  /** How many recorded calls it might have stood for; more than one: which one is a guess. */
  readonly among: number;
  readonly cause: Cause;
  /** The number of the message in the recording, or of the one behind the place where one was added; null: no message. */
  readonly message: number | null;
  /** The role of the message; null: no message. */
  readonly role: string | null;
  /** What the parameter, tool or field is called; null for a message. */
  readonly name: string | null;
  /** What was recorded; null: nothing stood there. A message's text, or the JSON of what is no text. */
  readonly a: string | null;
  /** What came; null: nothing stands there. */
  readonly b: string | null;
  readonly askedBy: AskedBy | null;
  /** The messages that a shortened history has no more. */
  readonly gone: number;
};
