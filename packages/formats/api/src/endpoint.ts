import type { ErrorCode } from '@stemma/errors';
import type { z } from 'zod';

type Shape = z.ZodObject;

/** What an endpoint answers with: a JSON value, bytes as they are (`mime`), or messages of a live stream. */
export type Answer =
  | { readonly kind: 'json'; readonly status: 200 | 201; readonly schema: z.ZodType }
  | { readonly kind: 'bytes'; readonly mime: string; readonly describe: string }
  | { readonly kind: 'stream'; readonly message: z.ZodType; readonly describe: string };

/** One endpoint of the contract, as data: the gateway routes by it, the client calls by it, OpenAPI is made of it. */
export type Endpoint = {
  readonly method: 'GET' | 'POST';
  /** `{name}` is a parameter, one segment, percent-encoded. */
  readonly path: string;
  readonly summary: string;
  readonly params?: Shape;
  readonly query?: Shape;
  readonly body?: z.ZodType;
  /** Other types in which the body may come, beside JSON; then it may be compressed with gzip, too. */
  readonly otherBodies?: readonly string[];
  readonly answer: Answer;
  /** Codes that are its own, beside those that every endpoint may answer with. */
  readonly errors: readonly ErrorCode[];
  /** Computing the answer may take more than a moment: it has a deadline, and a process of its own where there is one. */
  readonly heavy?: true;
  /** The answer is made as the client takes it. */
  readonly streamed?: true;
  /** What it is when somebody looks: recorded of branches that are observed. */
  readonly observed?: 'opened' | 'selected' | 'exported';
  /** It is answered also where the rows cannot follow the log, and says so. */
  readonly tellsOfRows?: true;
};

/** What is asked of a home, and changes nothing. Every door answers it the same. */
export type Question<Name extends string = string> = Endpoint & {
  readonly name: Name;
  readonly method: 'GET';
};

type Part<S> = S extends z.ZodType ? z.output<S> : unknown;

/** What a caller gives: parameters and query in one object, a body as `body`. */
export type InputOf<E extends Endpoint> = Part<E['params']> &
  Part<E['query']> &
  (E['body'] extends z.ZodType ? { readonly body: z.input<E['body']> } : unknown);

/** What a caller gets: a value, or the text of the bytes. Streams are read with an `EventSource`. */
export type AnswerOf<E extends Endpoint> = E['answer'] extends {
  kind: 'json';
  schema: infer S extends z.ZodType;
}
  ? z.output<S>
  : E['answer'] extends { kind: 'bytes' }
    ? string
    : never;
