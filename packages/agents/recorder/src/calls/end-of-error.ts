import type { CallEnding } from './call-recorder.ts';

/** How a call ended that threw. Its message may hold an address with a key, so only its code is kept. */
export const endOfError = (
  error: unknown,
  signal: AbortSignal | null,
  response: CallEnding['response'] = null,
  firstByte: number | null = null,
): CallEnding => {
  const names = [error, causeOf(error)].flatMap((one) => (one instanceof Error ? [nameOf(one)] : []));
  const isTimeout = names.some((name) => /TIME(D_?)?OUT|^TimeoutError$/i.test(name));
  const isAborted = signal?.aborted === true || names.includes('AbortError');
  const code = names.find((name) => /^[A-Z][A-Z0-9_]+$/.test(name)) ?? null;
  const common = { response, first_byte_ms: firstByte } as const;
  if (isTimeout)
    return { ...common, status: 'timed out', error: { code, message: 'no answer came in time' } };
  if (isAborted)
    return { ...common, status: 'cancelled', error: { code: null, message: 'the client ended the call' } };
  return {
    ...common,
    status: 'failed',
    error: {
      code,
      message:
        response === null
          ? 'the provider cannot be reached or ended the connection'
          : 'the connection ended in the middle of the answer',
    },
  };
};

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

const nameOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name;
