import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { HOSTILE, recordTrial } from './record-branches.ts';
import { insert, recorderOf, recordShort } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await recordTrial(client, record);
  await recordShort(client, record);
});

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Intervene' });

test('a message is injected with actor and reason after a preview of what the model will be shown, appears in the log, and is undone by a rollback', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=support&side=interventions',
    width: 1440,
  });
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  await page.keyboard.press('a');
  const dialog = dialogOf(page);
  await dialog.getByRole('textbox', { name: 'Message' }).fill('Offer a <b>voucher</b>.');
  const preview = dialog.getByRole('region', { name: 'Preview' });
  await preview.getByText('Offer a <b>voucher</b>.').waitFor();
  expect(await preview.innerText()).toMatch(/7 messages as before/);
  await dialog.getByRole('textbox', { name: 'Actor' }).fill('ann');
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('they waited long');
  await screenshot('intervene');
  expect(await seriousFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Inject', exact: true }).last().click();
  await dialog.getByText('Injected.').waitFor();
  const log = page.getByRole('list', { name: 'Interventions, newest first' });
  await expect.poll(() => log.innerText()).toContain('they waited long');
  await dialog.getByRole('button', { name: /^Undo: roll back to @s/ }).click();
  await dialog.getByText(/^Rolled back to @s\d+/).waitFor();
  await dialog.getByRole('button', { name: 'Show it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => log.locator('.type').allInnerTexts()).toEqual(['rollback', 'message_inject']);
  const thread = await stage.client.thread({ history: 'support' });
  expect(thread).not.toContain('voucher');
  expect(faults).toEqual([]);
});

test('the chosen node is edited where it may be, on a branch of its own from an older position, and what may not be changed says why before it is sent', async () => {
  const { page, faults } = await stage.open({ address: '?h=trial&at=@c3&node=q3' });
  await page
    .getByRole('complementary', { name: 'Selected node' })
    .getByRole('button', { name: 'Edit' })
    .click();
  const dialog = dialogOf(page);
  await expect.poll(() => dialog.getByRole('textbox', { name: 'Content' }).inputValue()).toBe('turn 3');
  await dialog.getByRole('textbox', { name: 'Content' }).fill('another turn');
  await dialog.getByText('E_SEALED').waitFor();
  await page.goto(`${stage.url}/?h=support&at=@c2&node=policy&dialog=edit`);
  await expect
    .poll(() => dialog.getByRole('textbox', { name: 'Content' }).inputValue())
    .toContain('Be brief');
  await dialog.getByRole('textbox', { name: 'Content' }).fill('You help with orders. Be kind.');
  await expect
    .poll(() => dialog.getByRole('region', { name: 'Preview' }).locator('ins').allInnerTexts())
    .toEqual(['kind']);
  await dialog.getByRole('textbox', { name: 'Name of the branch' }).fill('kinder');
  await dialog.getByRole('textbox', { name: 'Actor' }).fill('ann');
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await dialog.getByRole('button', { name: 'Show it' }).click();
  await page.getByText('You help with orders. Be kind.').first().waitFor();
  expect(await stage.client.thread({ history: 'support:kinder' })).toContain('Be kind.');
  expect(faults.filter((fault) => !fault.includes('409'))).toEqual([]);
});

test('positions are forked, saved and annotated from where one looks; without an actor nothing is done', async () => {
  const { page, faults } = await stage.open({ address: '?h=trial&at=@c4&dialog=fork' });
  const dialog = dialogOf(page);
  await dialog.getByRole('textbox', { name: 'Actor' }).fill('');
  await dialog.getByRole('textbox', { name: 'Name of the branch' }).fill('from-the-page');
  await page.keyboard.press('Enter');
  expect(await dialog.getByRole('status').count()).toBe(0);
  await dialog.getByRole('textbox', { name: 'Actor' }).fill('bob');
  await page.keyboard.press('Enter');
  await dialog.getByText('Forked.').waitFor();
  const { branches } = await stage.client.branches({ history: 'trial' });
  expect(branches.find(({ name }) => name === 'from-the-page')?.parent?.label).toBe('@c4');
  await page.goto(`${stage.url}/?h=trial&at=@c4&dialog=save`);
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('before-lunch');
  // The name of the actor is kept in the browser.
  expect(await dialog.getByRole('textbox', { name: 'Actor' }).inputValue()).toBe('bob');
  await page.keyboard.press('Enter');
  await dialog.getByText('Saved.').waitFor();
  await page.goto(`${stage.url}/?h=trial&at=@c4&dialog=annotate`);
  await dialog.getByRole('textbox', { name: 'Note' }).fill(HOSTILE);
  await dialog.getByRole('button', { name: 'Annotate' }).last().click();
  await dialog.getByText('Noted.').waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(faults).toEqual([]);
});

test(
  'an agent that a breakpoint holds is edited and let go from the page',
  { tags: ['calls§5.7', 'calls§5.8'] },
  async () => {
    const { home, client } = stage;
    const by = { recorder: 'proxy' };
    await home.submit({
      ...{ id: 'start', history: 'htalk', branchId: 0, by },
      steps: [{ op: 'start', name: 'talk' }, { op: 'commit' }],
    });
    const { page, faults, screenshot } = await stage.open({ address: '?h=htalk&dialog=break' });
    const dialog = dialogOf(page);
    await dialog.getByRole('textbox', { name: 'Actor' }).fill('ann');
    await dialog.getByRole('button', { name: 'Steer' }).click();
    await dialog.getByRole('button', { name: 'Stop steering' }).waitFor();
    await dialog.getByRole('textbox', { name: 'Tool that was called' }).fill('refund');
    await dialog.getByRole('button', { name: 'Set the breakpoint' }).click();
    await dialog.getByText('Breakpoint b1 is set.').waitFor();
    expect((await client.breakpoints({ history: 'htalk' })).breakpoints).toMatchObject([
      { name: 'b1', tool: 'refund' },
    ]);
    await client.command({
      history: 'htalk',
      body: { id: 'asks', recorder: 'proxy', steps: [insert('ask', 'user', 'Refund it.')] },
    });
    await home.submit({
      ...{ id: 'call-1.held', history: 'htalk', branchId: 0, by },
      steps: [
        {
          ...{ op: 'hold_call', attemptId: 'call-1', api: 'openai.chat', model: 'm-1', breakpoints: ['b1'] },
          ...{ until: Date.now() + 600_000, then: 'abort' },
        },
      ],
    });
    await page.goto(`${stage.url}/?h=htalk&at=open`);
    const held = page.getByRole('list', { name: 'Held calls' });
    await held.getByRole('button', { name: 'Inject…' }).click();
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Ask for the return number first.');
    await dialog.getByRole('region', { name: 'Preview' }).getByText('return number').waitFor();
    await dialog.getByRole('button', { name: 'Inject', exact: true }).last().click();
    await dialog.getByText('Injected.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await held.getByRole('button', { name: 'Resume or stop…' }).click();
    await dialog.getByRole('combobox', { name: 'Call' }).waitFor();
    await screenshot('intervene-held');
    expect(await seriousFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Release' }).click();
    await dialog.getByText('The call goes out.').waitFor();
    await held.waitFor({ state: 'detached' });
    const { calls } = await client.heldOf({ history: 'htalk' });
    expect(calls.map(({ released }) => [released?.how, released?.by])).toEqual([['edited', 'ann']]);
    expect(await client.thread({ history: 'htalk' })).toContain('return number');
    expect(faults).toEqual([]);
  },
);

test('a run goes on from where one looks with a model, and a model that may not be asked is refused with its code', async () => {
  const { page, faults } = await stage.open({ address: '?h=support&dialog=run' });
  const dialog = dialogOf(page);
  await dialog.getByRole('textbox', { name: /^Model/ }).fill('offline');
  await dialog.getByRole('textbox', { name: 'Actor' }).fill('ann');
  await dialog.getByRole('button', { name: 'Run' }).last().click();
  await dialog.getByText(/^1 call made/).waitFor();
  await dialog.getByRole('button', { name: 'Show it' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { attempts } = await stage.client.attempts({ history: paramOf(page, 'h') ?? '' });
  expect(attempts.map(({ status }) => status)).toEqual(['answered']);
  await page.goto(`${stage.url}/?h=support&dialog=run`);
  await dialog.getByRole('textbox', { name: /^Model/ }).fill('openai:gpt-4o');
  await dialog.getByRole('button', { name: 'Run' }).last().click();
  await dialog.getByText('E_MIND_NOT_ALLOWED').waitFor();
  expect(faults.filter((fault) => !/40\d/.test(fault))).toEqual([]);
});

test('a pool and a recorded agent are asked from the page; the pool gets no message, and the agent answers on a branch of its own', async () => {
  const { client } = stage;
  await client.startPool({
    body: { id: 'sea', actor: 'ann', name: 'sea', messages: ['The sea keeps.', 'A door is no way.'] },
  });
  const { page, faults, screenshot } = await stage.open({ address: '?h=sea&dialog=ask' });
  const dialog = dialogOf(page);
  await dialog.getByRole('textbox', { name: 'Question' }).fill('What is it about?');
  await dialog.getByRole('textbox', { name: 'Actor' }).fill('ann');
  await screenshot('ask');
  expect(await seriousFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Ask', exact: true }).last().click();
  await dialog.getByText(/offline was shown 2 messages and answers: ./).waitFor();
  expect((await client.pool({ history: 'sea' })).messages).toBe(2);
  const { interventions } = await client.interventions({ history: 'sea', type: 'external_query' });
  expect(interventions.map(({ actor }) => actor)).toEqual(['ann']);
  expect(faults).toEqual([]);
  const before = await client.thread({ history: 'trial' });
  await page.goto(`${stage.url}/?h=trial&dialog=ask`);
  await dialog.getByRole('textbox', { name: 'Question' }).fill('Why did you do that?');
  await dialog.getByRole('textbox', { name: /^Model/ }).fill('offline');
  await dialog.getByRole('button', { name: 'Ask', exact: true }).last().click();
  await dialog.getByText(/^1 call made.*It answers: ./s).waitFor();
  await dialog.getByRole('button', { name: 'Show it' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await client.thread({ history: paramOf(page, 'h') ?? '' })).toContain('Why did you do that?');
  expect(await client.thread({ history: 'trial' })).toEqual(before);
});

test('the log is filtered by branch and time, too; the address says how, and the export is of what is shown', async () => {
  const { page, faults } = await stage.open({ address: '?h=trial&side=interventions' });
  const log = page.getByRole('list', { name: 'Interventions, newest first' });
  await log.getByText('does a hint help?').waitFor();
  await page.getByRole('combobox', { name: 'Branch', exact: true }).selectOption({ label: 'with-hint' });
  await expect.poll(() => log.getByText('a good place to come back to').count()).toBe(0);
  expect(paramOf(page, 'on')).not.toBe(null);
  expect(await page.getByRole('link', { name: 'CSV' }).getAttribute('href')).toContain(
    `branch=${paramOf(page, 'on') ?? ''}`,
  );
  await page.getByLabel('to', { exact: true }).fill('2001-01-01T00:00');
  await page.getByText('No intervention matches the filter.').waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show all' }).click();
  await log.getByText('a good place to come back to').waitFor();
  expect(faults).toEqual([]);
});
