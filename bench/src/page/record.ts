import { historyId, type Step } from '@stemma/history';
import { openHome } from '@stemma/home';
import { prose, seeded } from '../text.ts';

/** How large the history is that the page shows. */
export type PageSizes = { readonly calls: number; readonly nodes: number; readonly branches: number };

export const NAME = 'large';

/**
 * Records a history: calls of equal numbers of nodes, each with its attempt, then branches from all along it, every third
 * from the one before, each with an actor and a reason.
 */
export const recordLarge = async (
  directory: string,
  { calls, nodes, branches }: PageSizes,
): Promise<void> => {
  const home = await openHome({ directory, create: true });
  const history = historyId(NAME, '');
  const random = seeded(17);
  const submit = (id: string, steps: readonly Step[], branchId = 0) =>
    home.submit({ id, history, branchId, by: { recorder: 'bench' }, steps: [...steps] });
  await submit('start', [{ op: 'start', name: NAME }]);
  const each = Math.max(1, Math.round(nodes / calls));
  for (let call = 1; call <= calls; call++) {
    const id = `call-${call}`;
    await submit(id, [
      ...Array.from({ length: each }, (_, i): Step => ({
        op: 'insert',
        parent: '^ah',
        node: {
          ...{
            id: `n${call}-${i}`,
            nodeType: 'cb',
            role: i === each - 1 ? 'user' : i % 2 === 0 ? 'assistant' : 'tool',
          },
          ...{ content: prose(random, 120), ...(i === 1 ? { ttl: 20 } : {}) },
        },
      })),
      { op: 'commit' },
      {
        ...{ op: 'start_call', api: 'openai.chat', model: call % 50 === 0 ? 'gpt-4o-mini' : 'gpt-4o' },
        ...{ parameters: {}, tools: null, toolsAt: null, request: null, own: null },
      },
    ]);
    const isFailed = call % 97 === 0;
    await submit(`${id}.finished`, [
      {
        ...{ op: 'finish_call', attemptId: id, status: isFailed ? 'failed' : 'answered' },
        ...{ httpStatus: isFailed ? 500 : 200, finishReason: isFailed ? null : 'stop', model: 'gpt-4o' },
        usage: { input: call * each * 30, output: 40, cached: null, cacheWrite: null, reasoning: null },
        ...{ firstByteMs: 300, durationMs: 1_200 },
        error: isFailed ? { code: 'server', message: 'the server had an error' } : null,
        ...{ answer: null, response: null, own: null },
      },
    ]);
  }
  // A call is two frames: it begins, and it ends.
  let newest = 0;
  for (let n = 1; n <= branches; n++) {
    const made = await home.submit({
      ...{ id: `fork-${n}`, history, branchId: n % 3 === 0 ? newest : 0 },
      by: { actor: n % 2 === 0 ? 'ann' : 'bob' },
      notes: prose(random, 60),
      steps: [
        {
          ...{ op: 'fork', name: `try-${n}`, description: prose(random, 40) },
          ...(n % 3 === 0 ? {} : { at: { branchId: 0, seq: 2 * (((n * 37) % calls) + 1) - 1 } }),
        },
      ],
    });
    newest = made.position.branchId;
  }
  await home.close();
};
