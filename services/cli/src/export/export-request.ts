import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { openLosses, REQUEST_FORMATS, requestFor, type RequestFormat } from '@stemma/exporters';
import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { threadBlocks, toOpenAIMessages } from '@stemma/importers';
import type { WholeCallAttempt } from '@stemma/queries';
import type { Context } from '../command.ts';
import { printable } from '../output.ts';
import { bodyOf } from './export-source.ts';
import { sayLost } from './export-history.ts';
import { fileTarget, outputTarget } from './export-target.ts';

/** What is written as a request: a position, or a call by its id. */
type AskedRequest = {
  readonly name: string;
  readonly ref: string | undefined;
  readonly to: string | undefined;
  readonly model: string | undefined;
};

/**
 * Writes a position as the body of a request to a model's API: the recorded bytes if it was called on that API, else the same messages,
 * parameters and tools in its form.
 */
export const exportRequest = async (
  { findBranch, output, observe }: Context,
  format: RequestFormat,
  { name, ref, to, model }: AskedRequest,
): Promise<undefined> => {
  const { home, branchRef } = await findBranch(name);
  const { attempt, position } = await findAsked(home, branchRef, ref);
  const { api } = REQUEST_FORMATS[format];
  const lost = openLosses();
  const isRecorded =
    attempt !== null && attempt.api === api && model === undefined && attempt.request !== null;
  const recorded = isRecorded ? await bodyOf(home, position.history, attempt.attemptId, 'request') : null;
  let body = recorded;
  if (recorded !== null && attempt !== null) {
    const { coding } = attempt.requestHead;
    output.say(
      `the recorded bytes of ${attempt.label}${coding === null ? '' : `, coded as ${printable(coding)}`}`,
    );
  }
  if (body === null) {
    const { tree, payloads, thread } = await home.read.view(position);
    const { model: said, tools } = besideMessages(threadBlocks(tree, payloads, thread));
    const asked = {
      api: attempt?.api ?? ('other' as const),
      model: model ?? attempt?.model ?? (typeof said === 'string' ? said : null),
      parameters: attempt?.parameters ?? {},
      tools: attempt?.tools ?? (Array.isArray(tools) ? (tools as readonly WideJson[]) : null),
      messages: toOpenAIMessages(tree, payloads, thread).filter(isJsonObject),
    };
    body = requestFor(format, asked, lost);
    output.say(`written from the thread of ${attempt?.label ?? position.label}`);
  }
  observe(branchRef, 'exported', format, position);
  sayLost(output, lost);
  const target = to === undefined ? outputTarget(output) : await fileTarget(to);
  await target.write(body);
  const bytes = await target.end();
  if (to === undefined) return undefined;
  const counts = Object.fromEntries(lost.list().map(({ what, count }) => [what, count] as const));
  await output.result(
    { format, files: [{ file: to, bytes }], recorded: recorded !== null, lost: counts },
    () => `${printable(to)}: ${bytes} bytes\n`,
  );
  return undefined;
};

/** What an imported file said beside its list of messages. */
const besideMessages = (blocks: readonly { readonly payload: WideJsonObject }[]): WideJsonObject =>
  blocks.map(({ payload }) => payload['data_conversation']).find(isJsonObject) ?? {};

/** The newest call with a position, or the one that is named by its id, and what it was shown. */
const findAsked = async (
  home: Home,
  branchRef: BranchRef,
  ref: string | undefined,
): Promise<{ readonly attempt: WholeCallAttempt | null; readonly position: Position }> => {
  if (ref === undefined || ref.includes('@')) {
    const position = await home.position(branchRef, ref);
    const newest = (await home.calls.at(position)).at(-1);
    return {
      attempt: newest === undefined ? null : await home.calls.find(branchRef.history, newest.attemptId),
      position,
    };
  }
  const attempt = await home.calls.find(branchRef.history, ref);
  return {
    attempt,
    position: await home.position(branchRefOf(branchRef.history, attempt.branchId), attempt.label),
  };
};
