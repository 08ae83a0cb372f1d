import type { WireError } from '@stemma/errors';
import type { HomeOptions } from '@stemma/home';
import type { GivenInput, RouteName } from '../answers.ts';
import type { HttpAnswer } from '../front/answer.ts';

/** What the process of a home tells one that answers questions for it. One question at a time. */
export type QuestionRequest =
  | { readonly kind: 'open'; readonly home: Pick<HomeOptions, 'directory' | 'log' | 'rows'> }
  | {
      readonly kind: 'ask';
      readonly name: RouteName;
      readonly input: GivenInput;
      /** What the process of the home has repaired so far, in sentences. */
      readonly repairs: readonly string[];
    };

export type QuestionAnswer =
  | { readonly kind: 'opened' }
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  | { readonly kind: 'failed'; readonly error: WireError };
