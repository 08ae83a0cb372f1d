import type { WideJsonObject } from '@stemma/canonical';
import type { Mind } from '@stemma/model-clients';
import { isStreamInPath, rewriteRequest, writeRequest } from '@stemma/model-apis';
import type { WholeCallAttempt } from '@stemma/queries';
import { settingsFor, type CallSettings } from './call-settings.ts';

/** What is known of the call that is asked again. */
export type AskedBefore = {
  readonly attempt: WholeCallAttempt | null;
  /** The body as it was sent; null: its bytes are not recorded. */
  readonly body: Uint8Array | null;
};

export type RewrittenRequest = {
  readonly bytes: Uint8Array;
  readonly how: 'recorded' | 'set' | 'written';
  readonly settings: CallSettings;
};

/**
 * The body that asks a call again: the recorded bytes if nothing of them changes, the recorded body with some fields set if it
 * is of the same API and shows the same messages, else one that is written anew.
 *
 * @param messages those that are sent; @param isEdited true if they are not those of the recorded body
 * @throws E_USAGE for a field that is no parameter
 */
export const retryRequest = (
  mind: Pick<Mind, 'api' | 'model'>,
  { attempt, body }: AskedBefore,
  set: WideJsonObject,
  { messages, isEdited }: { readonly messages: readonly WideJsonObject[]; readonly isEdited: boolean },
): RewrittenRequest => {
  const settings = settingsFor(mind, attempt, set);
  if (body !== null && !isEdited && attempt?.api === mind.api) {
    const isSameModel = attempt.model === mind.model;
    const fields = isSameModel || isStreamInPath(mind.api) ? set : { model: mind.model, ...set };
    if (Object.keys(fields).length === 0) return { bytes: body, how: 'recorded', settings };
    return { bytes: rewriteRequest(body, fields), how: 'set', settings };
  }
  const { parameters, tools, stream } = settings;
  const bytes = writeRequest(mind.api, { model: mind.model, messages, parameters, tools, stream });
  return { bytes, how: 'written', settings };
};
