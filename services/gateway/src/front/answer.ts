/** An answer that is known whole. */
export type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
};

/** The pieces of an answer that is made as the client takes it. */
export type Pieces = {
  /** The next piece; undefined after the last. */
  readonly next: () => Promise<Uint8Array | undefined>;
  /** Nobody wants the rest. */
  readonly cancel: () => void;
};

/** An answer whose body comes in pieces. */
export type StreamedAnswer = Omit<HttpAnswer, 'body'> & { readonly pieces: Pieces };

/** The answer to HEAD: what GET would say of its body, without it. */
export const headOf = (answer: HttpAnswer | StreamedAnswer): HttpAnswer => {
  if ('pieces' in answer) answer.pieces.cancel();
  return { status: answer.status, headers: answer.headers, body: null };
};

export const toResponse = (answer: HttpAnswer | StreamedAnswer): Response => {
  const { status, headers } = answer;
  return new Response('pieces' in answer ? streamOf(answer.pieces) : answer.body, { status, headers });
};

/** Nothing is read ahead of what is taken. */
const streamOf = ({ next, cancel }: Pieces): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        const piece = await next();
        if (piece === undefined) controller.close();
        else controller.enqueue(new Uint8Array(piece));
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
