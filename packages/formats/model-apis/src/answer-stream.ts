import type { WideJsonObject } from '@stemma/canonical';
import type { ModelAnswer } from './answer.ts';

/** What the events of a stream make up. */
export type AnswerStream = {
  readonly add: (event: WideJsonObject) => void;
  /** The `[DONE]` behind the events of some APIs came. */
  readonly done: () => void;
  /** The answer so far. */
  readonly answer: () => ModelAnswer;
};

/**
 * Which block of an answer a string of an event belongs to: strings of one block are pieces of one text. Null: it is one by itself.
 *
 * @param path where it stands in the event: `choices.0.delta.content`
 * @param valueAt what stands at a path of the event
 */
export type StreamBlock = (path: string, valueAt: (path: string) => string | null) => string | null;
