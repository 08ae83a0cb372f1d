import type { WideJson } from '@stemma/canonical';
import { checkValue } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { isBodyKept, type RecordedBody } from '@stemma/events';
import type { PendingFrame } from './pending-frame.ts';

/** A value of a call that can be recorded. @throws E_COMMAND_INVALID */
export const checkedInCall = (value: WideJson, what: string): WideJson =>
  checkValue(value, what, { code: 'E_COMMAND_INVALID', what: 'the call' });

/**
 * Refuses a body whose pieces cannot be put together: what was recorded must be readable for ever.
 *
 * @param own the bytes that the body does not share, as text
 * @throws E_COMMAND_INVALID
 */
export const refuseBody = (pending: PendingFrame, body: RecordedBody | null, own: string | null): void => {
  if (body === null) {
    if (own !== null) throw fail('E_COMMAND_INVALID', 'a call has bytes of a body that it does not have');
    return;
  }
  if ((body.encoding === 'none') !== !isBodyKept(body))
    throw fail('E_COMMAND_INVALID', 'a body is kept if it is not too large, and only then');
  if (!isBodyKept(body) && body.pieces.length === 0 && body.base === null && own === null) return;
  refuseLater(pending, body.base, 'the body that the call copies from');
  for (const seq of body.base?.frames ?? []) refuseLater(pending, { seq }, 'what the call shares bytes with');
  let size = 0;
  let owned = 0;
  for (const [first = 0, length] of body.pieces) {
    if (length === undefined) owned += first;
    size += length ?? first;
  }
  if (size !== body.size || owned > 0 !== (own !== null))
    throw fail('E_COMMAND_INVALID', 'the pieces of a body do not have its size');
};

/** @throws E_COMMAND_INVALID for what is in a frame that is not recorded yet */
export const refuseLater = (
  { seq: next }: PendingFrame,
  place: { readonly seq: number } | null,
  what: string,
): void => {
  if (place !== null && place.seq >= next)
    throw fail('E_COMMAND_INVALID', `${what} is in frame ${place.seq}, which is not recorded yet`);
};
