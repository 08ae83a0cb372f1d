import { decodeEntry, type EndedEntry, type OpenEntry, type StartedEntry } from './entry.ts';
import { openCapture } from './capture.ts';

/** The end of a call whose process ended before it, and what its client was given. */
export type CutCall = { readonly entry: EndedEntry; readonly body: readonly Uint8Array[] };

const CUT = { code: null, message: 'the process that forwarded the call ended before the call did' };

/** What is known of a call by its file. @returns undefined: nothing is */
export const cutCallIn = (bytes: Buffer): CutCall | undefined => {
  const answered = openCapture();
  let facts: OpenEntry | undefined;
  let durationMs = 0;
  for (let at = 0; ;) {
    const read = entryAt(bytes, at);
    if (read === undefined) break;
    const { entry, body, next } = read;
    if (entry.kind === 'open') facts = entry;
    if (entry.kind !== 'open' && entry.kind !== 'piece') break;
    durationMs = Math.max(durationMs, entry.durationMs);
    if (body.length > 0) answered.add(body);
    at = next;
  }
  if (facts === undefined) return undefined;
  const { kind: _kind, ...rest } = facts;
  const unkept = answered.unkept();
  const whole = unkept === undefined ? { whole: true } : { whole: false, unkept };
  const entry = { ...rest, kind: 'ended', status: 'failed', durationMs, ...whole, error: CUT } as const;
  return { entry, body: answered.pieces() };
};

/** The end of a call of which nothing is known but that it went out. */
export const cutCallOf = ({ id, method, path }: Pick<StartedEntry, 'id' | 'method' | 'path'>): CutCall => ({
  entry: {
    ...{ kind: 'ended', id, method, path, status: 'failed', httpStatus: null, contentType: null },
    ...{ coding: null, retryAfter: null, sentAt: null, whole: true, firstByteMs: null, durationMs: 0 },
    ...{ error: CUT, branch: null },
  },
  body: [],
});

/** What the process was writing when it ended is no entry. */
const entryAt = (bytes: Buffer, at: number): ReturnType<typeof decodeEntry> => {
  try {
    return decodeEntry(bytes, at);
  } catch {
    return undefined;
  }
};
