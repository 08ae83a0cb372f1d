import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage();

test(
  'a page that is opened while a call is held shows it, until it is released',
  { tags: ['calls§5.7', 'calls§5.8'] },
  async () => {
    const { home } = stage;
    const by = { recorder: 'proxy' };
    await home.submit({
      ...{ id: 'start', history: 'htalk', branchId: 0, by },
      steps: [{ op: 'start', name: 'talk' }, { op: 'commit' }],
    });
    await home.submit({
      ...{ id: 'call-1.held', history: 'htalk', branchId: 0, by },
      steps: [
        {
          ...{
            op: 'hold_call',
            attemptId: 'call-1',
            api: 'openai.chat',
            model: 'm-<b>1',
            breakpoints: ['b1'],
          },
          ...{ until: Date.now() + 600_000, then: 'abort' },
        },
      ],
    });
    const { page, faults } = await stage.open({ address: '?h=htalk' });
    const held = page.getByRole('list', { name: 'Held calls' });
    await held.waitFor();
    expect(await held.innerText()).toMatch(
      /held the call of cycle 2 to m-<b>1, by b1 until .*, then it ends\s.*stemma resume htalk/s,
    );
    // From every view, and from the tab of the browser, with the time that is left.
    await page.goto(`${stage.url}/?h=htalk&show=events`);
    const badge = page.getByRole('button', { name: /^1 held \d+:\d\d$/ });
    await badge.waitFor();
    expect(await page.title()).toMatch(/^🔒 1 held \d+:\d\d · /);
    await badge.click();
    await held.waitFor();
    expect(await page.getByRole('slider', { name: 'Filmstrip' }).getAttribute('aria-valuemax')).toBe('2');
    await home.steering.release('htalk', 'call-1', { abort: false }, { actor: 'ann' });
    await held.waitFor({ state: 'detached' });
    await badge.waitFor({ state: 'detached' });
    expect(await page.title()).not.toMatch(/held/);
    expect(faults).toEqual([]);
  },
);
