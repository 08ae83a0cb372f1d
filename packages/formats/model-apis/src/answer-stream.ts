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
