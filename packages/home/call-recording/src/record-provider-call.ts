import { encodeBody, type EncodedBody, type UnkeptBody } from '@stemma/call-bodies';
import type { Outcome } from '@stemma/command-handler';
import type { Author } from '@stemma/events';
import type { Command, StepOf } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import type { Redactor } from '@stemma/redaction';
import { redactedRequest, redactedResponse } from './redacted-body.ts';

type Recorded = StepOf<'record_provider_call'>;

/** A call of a provider's API that carries no messages, and how it ended. */
export type ProviderCallFacts = Omit<Recorded, 'op' | 'request' | 'response' | 'withheld'> & {
  /** The id of the attempt, and of the command that records it. */
  readonly id: string;
  readonly by: Author;
  readonly request: WireBody;
  readonly response: WireBody;
};

/** A body on the wire, and the same without its content codings, if it has some (null: nobody knows how to undo them). */
export type WireBody = {
  readonly bytes: Uint8Array | UnkeptBody | null;
  readonly plain?: Uint8Array | null | undefined;
};

/** Records a call without messages in a history. A repeat has no second effect. @throws as `submit` */
export const recordProviderCall = async (
  submit: (command: Command) => Promise<Outcome>,
  { history, branchId }: BranchRef,
  { id, by, run, request, response, ...facts }: ProviderCallFacts,
  redactor?: Redactor,
): Promise<Outcome> => {
  const kept = {
    request:
      request.bytes === null ? null : await redactedRequest(request.bytes, 'other', redactor, request.plain),
    response: response.bytes === null ? null : redactedResponse(response.bytes, redactor, response.plain),
  };
  const withheld = (['request', 'response'] as const).filter(
    (which) => kept[which] === null && (which === 'request' ? request : response).bytes !== null,
  );
  const step: Recorded = {
    op: 'record_provider_call',
    ...facts,
    run: run === null ? null : (redactor?.text(run) ?? run),
    request: encoded(kept.request),
    response: encoded(kept.response),
    withheld,
  };
  return submit({ id, history, branchId, by, steps: [step] });
};

const encoded = (body: Uint8Array | UnkeptBody | null): EncodedBody | null =>
  body === null ? null : encodeBody(body, null, new Uint8Array());
