import { mindFor, settingsFor, type MindsOptions } from '@stemma/agent-loop';
import { fail } from '@stemma/errors';
import { checkActor, checkNotes } from '@stemma/history';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { answerOf } from '@stemma/model-clients';
import { textOfContent } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import { readPool } from './pool-state.ts';

/** A question about a pool. */
export type PoolQuestion = {
  /** The id of the command that records it. */
  readonly id: string;
  readonly question: string;
  readonly actor: string;
  readonly notes?: string;
  /** Default: the first mind of the configuration. */
  readonly mind?: string;
  /** The newest messages that the mind is shown. Default: the whole active pool. */
  readonly messages?: number;
  readonly minds?: MindsOptions;
  readonly signal?: AbortSignal;
};

/** What was answered; it is recorded as an `external_query`. */
export type PoolReply = {
  readonly position: Position;
  readonly mind: string;
  readonly answer: string;
  /** How many messages the mind was shown. */
  readonly messages: number;
  readonly seq: number;
};

/**
 * Asks a mind about a pool, and adds nothing to it: question and answer are recorded, with who asked (pool: Runner).
 *
 * @throws E_NOT_A_POOL, E_POOL_TOO_SMALL for an empty pool, E_USAGE, E_MIND_…, E_CANCELLED
 */
export const askPool = async (
  home: Home,
  branchRef: BranchRef,
  { id, question, actor, notes, mind: named, messages: most, minds = {}, signal }: PoolQuestion,
): Promise<PoolReply> => {
  if (question.trim() === '') throw fail('E_USAGE', 'the question is empty');
  // Nobody pays for an answer that is refused in the end.
  checkActor(actor);
  checkNotes(notes ?? '');
  const { settings, messages, system } = await readPool(home, branchRef);
  const shown = messages.slice(-Math.min(most ?? settings.active_pool_size, settings.active_pool_size));
  if (shown.length === 0) throw fail('E_POOL_TOO_SMALL', 'the pool is empty');
  const mind = mindFor(named ?? settings.minds[0], null, minds);
  const { parameters } = settingsFor(mind, null, settings.parameters);
  const said = [...shown.map(({ text }) => text), question].map((content) => ({ role: 'user', content }));
  const { answer } = await answerOf(
    mind,
    { messages: [...system, ...said], parameters, seed: settings.seed },
    { ...minds, ...defined({ signal }) },
  );
  const text = textOfContent(answer?.['content']);
  const { history, branchId } = branchRef;
  const { seq } = await home.submit({
    id,
    history,
    branchId,
    by: { actor },
    ...defined({ notes }),
    steps: [{ op: 'query', question, answer: text, mind: mind.spec }],
  });
  return {
    position: await home.position(branchRef),
    mind: mind.spec,
    answer: text,
    messages: shown.length,
    seq,
  };
};
