import { historyId } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import { type Home, openHome, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

const by = { recorder: 'agent' };
const history = historyId('talk', '');
const branch = branchRefOf(history, 0);
const said = (text: string) => ({ role: 'user', content: text });
const facts = { api: 'openai.chat', model: 'm-1', parameters: {}, tools: null, request: null } as const;

const source = { format: 'openai-chat', sha256: '0'.repeat(64) };

/** A hint that an observer injects, then a commit without a call, a call, and another commit. */
const hintedHome = async (
  directory: string,
  { isImported, isCalled }: { readonly isImported: boolean; readonly isCalled: boolean },
): Promise<Home> => {
  const home = await openHome({ directory, create: true });
  const start = { op: 'start', name: 'talk', ...(isImported ? { source } : {}) } as const;
  await home.submit({ id: 'start', history, branchId: 0, by, steps: [start] });
  await home.submit({
    id: 'hint',
    history,
    branchId: 0,
    by: { actor: 'ann' },
    steps: [{ op: 'inject', text: 'Look again.' }],
  });
  const commit = (id: string) => home.submit({ id, history, branchId: 0, by, steps: [{ op: 'commit' }] });
  await commit('before');
  const shown = [said('Look again.'), said('And?')];
  await home.calls.recordCall(branch, { id: 'call', by, messages: shown, ...(isCalled ? { facts } : {}) });
  await commit('after');
  return home;
};

test.each([
  { isImported: false, isCalled: true, calls: [0, 1, 0], cycles: [2], basis: 'made' },
  { isImported: true, isCalled: true, calls: [0, 1, 0], cycles: [1, 2], basis: 'made' },
  { isImported: true, isCalled: false, calls: [null, null, null], cycles: [1, 2, 3], basis: 'commits' },
] as const)(
  'snapshots say how many calls stand behind them, and impact counts calls that were made: $basis, imported $isImported',
  { tags: ['calls§6.1', 'calls§6.2'] },
  async ({ calls, cycles, basis, ...how }) => {
    using at = temporaryHome();
    const home = await hintedHome(at.directory, how);
    expect((await home.read.snapshots(branch)).map((one) => one.calls)).toEqual(calls);
    const prompts: (number | null)[] = [];
    for await (const prompt of home.queries.questions.calls(branch)) prompts.push(prompt.calls);
    expect(prompts).toEqual(calls);
    const impact = await home.queries.audit.impact(history, 'hint');
    expect(impact.basis).toBe(basis);
    expect(impact.calls.map(({ cycle }) => cycle)).toEqual(cycles);
    expect(impact.branches).toMatchObject([{ branchId: 0, calls: cycles.length }]);
    await home.close();
  },
);
