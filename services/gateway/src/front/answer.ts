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

export const toResponse = ({ status, headers, body }: HttpAnswer): Response =>
  new Response(body, { status, headers });

/** The answer that a web response is; `piecewise` says whether its body is taken in pieces. */
export const fromResponse = async (
  response: Response,
  piecewise: (mime: string) => boolean,
): Promise<HttpAnswer | StreamedAnswer> => {
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers);
  if (body === null || !piecewise(headers['content-type'] ?? ''))
    return { status, headers, body: body === null ? null : new Uint8Array(await response.arrayBuffer()) };
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  return {
    status,
    headers,
    pieces: {
      next: async () => {
        const { done, value } = await reader.read();
        return done ? undefined : value;
      },
      cancel: () => void reader.cancel().catch(() => undefined),
    },
  };
};

/** Answers whose pieces are made as the client takes them. */
export const isStreamed = (mime: string): boolean =>
  /^(text\/event-stream|application\/jsonl|text\/csv)/.test(mime);
