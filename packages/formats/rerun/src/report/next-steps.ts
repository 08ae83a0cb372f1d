import type { SummarizedCall } from '../summary.ts';

/** A command that goes on from a rerun, up to the `--` before the words of the agent, and the question that it answers. */
export type NextStep = { readonly words: string; readonly question: string };

/**
 * What may be asked after a call differed; nothing if none did.
 *
 * @param command up to its options: `stemma rerun shop`
 * @param canGoLive false: no call can go to its provider, so none is proposed
 */
export const nextSteps = (
  calls: readonly SummarizedCall[],
  command: string,
  canGoLive: boolean,
): readonly NextStep[] => {
  const first = calls.find(({ how }) => how === 'differs')?.difference ?? null;
  if (first === null) return [];
  return [
    ...(first.cause === 'tool result'
      ? [{ words: `${command} --tools recorded`, question: 'does the rest hold if the tool says the same?' }]
      : []),
    ...(canGoLive
      ? [{ words: `${command} --from ${first.of}`, question: 'what does the model say to that?' }]
      : []),
  ];
};
