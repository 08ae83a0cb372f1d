import type { NearMessage } from './find-messages.ts';
import type { PoolView, SampledMessage } from './pool-messages.ts';

/** A message as JSON. */
export const messageDocument = (message: SampledMessage | NearMessage) => {
  const { id, vectorId, round, mindId, source, intervention, sampled, isActive, text } = message;
  return {
    id,
    vector_id: vectorId,
    round,
    mind_id: mindId,
    source,
    intervention,
    sampled,
    active: isActive,
    ...('similarity' in message ? { similarity: message.similarity } : {}),
    text,
  };
};

/** How far a pool is, as JSON. */
export const poolDocument = ({ position, round, settings, messages }: PoolView) => {
  const active = messages.filter(({ isActive }) => isActive);
  const { history, branch, branchId, label } = position;
  return {
    history,
    branch,
    branchId,
    position: label,
    round,
    messages: messages.length,
    active: active.length,
    injected: messages.filter(({ intervention }) => intervention !== null).length,
    never_shown: active.filter(({ sampled }) => sampled === 0).length,
    settings,
  };
};
