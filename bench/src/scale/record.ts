import { historyId, type Step } from '@stemma/history';
import { openHome } from '@stemma/home';
import { prose, seeded } from '../text.ts';

export const NAME = 'scale';

export type RecordInput = { readonly directory: string; readonly calls: number };

/** How often something else than a call comes: once in so many calls. */
const EVERY = { expiring: 10, removed: 25, intervention: 50, named: 100 } as const;

/** Branches beside the first: as many in each size, so that what grows is the calls. */
const FORKS = 8;

/** Commands that are under way at once: the log writes them in groups. */
const WINDOW = 256;

/** Windows until the rows are waited for: a writer that is 10,000 frames ahead of them is refused. */
const WINDOWS_AHEAD = 16;

const contents = Array.from({ length: 500 }, (_, number) => prose(seeded(number), 120));

const message = (id: string, role: string, number: number, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', role, kind: 'text', content: contents[number % contents.length]!, ...more },
});

/** What one call brings: a question and an answer, now and then a result that expires or a removal, and the attempt. */
const stepsOf = (call: number): Step[] => [
  message(`q${call}`, 'user', 2 * call),
  message(`a${call}`, 'assistant', 2 * call + 1),
  ...(call % EVERY.expiring === 0 ? [message(`r${call}`, 'tool', call, { ttl: 3 })] : []),
  // Of a sealed turn, only what has an offset can be removed.
  ...(call % EVERY.removed === 1 ? [message(`p${call}`, 'assistant', call, { offset: 1 })] : []),
  ...(call % EVERY.removed === 3 ? [{ op: 'remove', id: `p${call - 2}` } as const] : []),
  { op: 'commit' },
  {
    ...{ op: 'start_call', api: 'openai.chat', model: call % 50 === 0 ? 'gpt-4o-mini' : 'gpt-4o' },
    ...{ parameters: {}, tools: null, toolsAt: null, request: null, own: null },
  },
];

const endOf = (call: number): Step => {
  const isFailed = call % 97 === 0;
  return {
    ...{ op: 'finish_call', attemptId: `call-${call}`, status: isFailed ? 'failed' : 'answered' },
    ...{ httpStatus: isFailed ? 500 : 200, finishReason: isFailed ? null : 'stop', model: 'gpt-4o' },
    usage: { input: call * 60, output: 40, cached: null, cacheWrite: null, reasoning: null },
    ...{ firstByteMs: 300, durationMs: 1_200 },
    error: isFailed ? { code: 'server', message: 'the server had an error' } : null,
    ...{ answer: null, response: null, own: null },
  };
};

/**
 * Records one history of so many calls whose context grows: two messages a call, every tenth with a result that expires, every
 * 25th with a removal, every 50th after an intervention, every 100th with a name; and branches from all along it.
 */
export const recordScale = async ({ directory, calls }: RecordInput): Promise<null> => {
  let now = 1_700_000_000_000_000_000n;
  const home = await openHome({ directory, create: true, clock: () => (now += 1_000_000n) });
  const history = historyId(NAME, '');
  const waiting: Promise<unknown>[] = [];
  let windows = 0;
  const submit = async (
    id: string,
    steps: readonly Step[],
    by: { readonly recorder: string } | { readonly actor: string } = { recorder: 'bench' },
    branchId = 0,
  ): Promise<void> => {
    const notes = 'actor' in by ? { notes: `a reason for ${id}` } : {};
    waiting.push(home.submit({ id, history, branchId, by, ...notes, steps: [...steps] }));
    if (waiting.length < WINDOW) return;
    await Promise.all(waiting.splice(0));
    if (++windows % WINDOWS_AHEAD === 0) await home.catchUp();
  };
  await submit('start', [{ op: 'start', name: NAME }]);
  await submit('rules', [{ op: 'insert', parent: '^sys', node: { nodeType: 'cb', content: 'Be brief.' } }]);
  for (let call = 1; call <= calls; call++) {
    if (call % EVERY.intervention === 0)
      await submit(
        `said-${call}`,
        [{ op: 'inject', text: contents[call % contents.length]!, id: `o${call}` }],
        { actor: 'ann' },
      );
    await submit(`call-${call}`, stepsOf(call));
    await submit(`call-${call}.finished`, [endOf(call)]);
    if (call % EVERY.named === 0) await submit(`name-${call}`, [{ op: 'name', name: `n${call}` }]);
  }
  await Promise.all(waiting);
  const branch = await home.find(NAME);
  for (let fork = 1; fork <= FORKS; fork++) {
    const { branchId, seq } = await home.position(branch, `@c${Math.floor((calls * fork) / (FORKS + 1))}`);
    const made = await home.submit({
      ...{ id: `fork-${fork}`, history, branchId: 0, by: { actor: 'ann' }, notes: 'another way' },
      steps: [{ op: 'fork', name: `try-${fork}`, description: 'another way', at: { branchId, seq } }],
    });
    await submit(
      `try-${fork}`,
      [message(`t${fork}`, 'user', fork), { op: 'commit' }],
      { recorder: 'bench' },
      made.position.branchId,
    );
  }
  await Promise.all(waiting);
  await home.catchUp();
  await home.close();
  return null;
};
