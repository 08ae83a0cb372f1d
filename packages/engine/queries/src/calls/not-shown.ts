import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isBodyKept, type CallApi } from '@stemma/events';
import { positionOfFrame, type Position, type TreeView } from '@stemma/history-store';
import { toOpenAIMessages } from '@stemma/importers';
import { changedByProvider, keptAtProvider, type ContextEdit } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import type { CallRow } from '@stemma/read-models';

/**
 * Why nobody knows what a request showed the model, though it was recorded; null: it was read, or a program said what its messages
 * are (calls §1.8).
 */
export const unreadReason = ({
  api,
  request,
}: {
  readonly api: CallApi;
  readonly request: { readonly size: number } | null;
}): string | null => {
  if (api !== 'other' || request === null) return null;
  return isBodyKept(request)
    ? 'no reader understands the request: nobody checked that the thread is what it showed the model'
    : 'the request is too large to be kept: nobody knows what it showed the model';
};

/** Reads what a position shows. */
export type ViewReader = (position: Position) => Promise<TreeView>;

/** What the events of a call hold. */
type SaidInCall = {
  readonly parameters: WideJson;
  readonly answer: WideJson | null;
  /** What is known of where the call belongs. */
  readonly place: WideJson | null;
  readonly edits: WideJson | null;
};

/**
 * Why the thread of a call is not all that its model was shown, or more than that, as far as anybody knows (calls §1.8); null: it is
 * what the model was shown.
 */
export const notShownReason = async (
  { projection, view }: { readonly projection: Projection; readonly view: ViewReader },
  history: string,
  row: CallRow,
  { parameters, answer, place, edits }: SaidInCall,
): Promise<string | null> => {
  const unread = unreadReason(row);
  if (unread !== null) return unread;
  const elsewhere = elsewhereReasons(row.api, parameters, place);
  const reasons = [
    ...elsewhere,
    ...(await editReasons({ projection, view }, history, row, { parameters, answer, edits })),
  ];
  return reasons.length === 0 ? null : reasons.join('; ');
};

/** What the provider took out of the messages, or may have taken out. */
const editReasons = async (
  { projection, view }: { readonly projection: Projection; readonly view: ViewReader },
  history: string,
  { api, branchId, position }: CallRow,
  { parameters, answer, edits }: Omit<SaidInCall, 'place'>,
): Promise<readonly string[]> => {
  if (api !== 'anthropic.messages' && api !== 'openai.responses') return [];
  const at = await projection.read((rows) => positionOfFrame(rows, history, branchId, position));
  const { tree, payloads, thread } = await view(at);
  const messages = toOpenAIMessages(tree, payloads, thread);
  return changedByProvider({
    ...{ api, parameters, messages, answer },
    edits: (edits ?? []) as readonly ContextEdit[],
  });
};

/** Of a call whose earlier messages are recorded, these are in the thread. */
const elsewhereReasons = (api: CallApi, parameters: WideJson, place: WideJson | null): readonly string[] => {
  const isKnown = isJsonObject(place) && place['kept'] !== undefined;
  const names = keptAtProvider(api, parameters).filter(
    (name) => !(isKnown && name === 'previous_response_id'),
  );
  return names.length === 0
    ? []
    : [
        `the model was shown more than the thread: ${names.join(' and ')} name${names.length === 1 ? 's' : ''} what its provider has`,
      ];
};
