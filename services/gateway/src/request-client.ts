/** Who asked: the signal aborts when nobody waits for the answer any more. */
export type RequestClient = { readonly signal: () => AbortSignal };
