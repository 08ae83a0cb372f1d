import type { WireError } from '@stemma/errors';
import type { EndpointName } from '@stemma/api';
import type { HomeOptions } from '@stemma/home';

/** What the process of a home tells one that answers questions for it. One question at a time. */
export type QuestionRequest =
  | { readonly kind: 'open'; readonly home: Pick<HomeOptions, 'directory' | 'log' | 'rows'> }
  | {
      readonly kind: 'ask';
      readonly name: EndpointName;
      readonly input: Readonly<Record<string, unknown>>;
      /** What the process of the home has repaired so far, in sentences. */
      readonly repairs: readonly string[];
    };

export type QuestionAnswer =
  | { readonly kind: 'opened' }
  | { readonly kind: 'answered'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'failed'; readonly error: WireError };
