import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { recordTrial } from './record-branches.ts';
import { insert, recorderOf, recordShort } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await recordTrial(client, record);
  await recordShort(client, record);
});

test('the drawing of the branches has room, is filtered, and from any point one names, forks, compares and exports', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=trial&show=branches&at=@c6',
    width: 1440,
  });
  const drawing = page.getByRole('region', { name: 'Drawing of the branches' });
  const rows = drawing.getByRole('listitem');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(4);
  await page.getByRole('button', { name: 'Abandoned ones' }).click();
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole('textbox', { name: 'A text in the name of a branch' }).fill('hint');
  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.getByText('This history has one branch').count()).toBe(0);
  await page.getByRole('button', { name: 'Larger' }).click();
  const saved = page.getByRole('region', { name: 'Saved positions' });
  expect(await saved.innerText()).toContain('before-doubt');
  await screenshot('branches-view');
  expect(await seriousFaults(page)).toEqual([]);
  await saved.getByRole('button', { name: 'Compare with…' }).click();
  await expect.poll(() => paramOf(page, 'a')).toBe('@name:before-doubt');
  await page.goBack();
  await page.getByRole('region', { name: 'From here' }).getByRole('button', { name: 'Fork' }).click();
  await page.getByRole('dialog', { name: 'Intervene' }).waitFor();
  expect(faults).toEqual([]);
});

test('calls are shown with their time, status, tokens and errors; a branch without any says how to record them', async () => {
  const contents = ['one', 'answer', 'two', 'answer', 'three'];
  for (const [n, status] of (['answered', 'failed', 'answered'] as const).entries()) {
    const messages = contents
      .slice(0, 2 * n + 1)
      .map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
    const answer = {
      model: 'm-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'answer' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10 + n, completion_tokens: 3 },
    };
    await stage.client.recordExchange({
      body: {
        ...{ id: `call-${n}`, recorder: 'agent', history: 'calls' },
        request: {
          ...{ form: 'wire', method: 'POST', path: '/v1/chat/completions' },
          body: { text: JSON.stringify({ model: 'm-<b>1', messages }) },
        },
        end: {
          ...{ status, first_byte_ms: 300, duration_ms: 1_200 * (n + 1) },
          error: status === 'failed' ? { code: 'server', message: '<img src=x> broke' } : null,
          response:
            status === 'failed'
              ? null
              : {
                  ...{ form: 'wire', http_status: 200, content_type: 'application/json' },
                  body: { text: JSON.stringify(answer) },
                },
        },
      },
    });
  }
  const { page, faults, screenshot } = await stage.open({ address: '?h=calls&show=calls' });
  const list = page.getByRole('listbox', { name: 'Calls, oldest first' });
  await list.getByRole('option').first().waitFor();
  expect(await list.getByRole('option').count()).toBe(3);
  expect(await list.innerText()).toContain('<img src=x> broke');
  await screenshot('calls-view');
  expect(await seriousFaults(page)).toEqual([]);
  await page.getByRole('button', { name: /^Only failed ones/ }).click();
  await expect.poll(() => list.getByRole('option').count()).toBe(1);
  await list.getByRole('option').first().click();
  await expect.poll(() => paramOf(page, 'show')).toBe(null);
  await page.goto(`${stage.url}/?h=trial&show=calls`);
  await page.getByText('./stemma record --history trial').waitFor();
  expect(faults).toEqual([]);
});

test(
  'below a thread that is not all that the model was shown, the page says so, and what was answered',
  { tags: ['calls§1.8'] },
  async () => {
    const answer = {
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] }],
    };
    await stage.client.recordExchange({
      body: {
        ...{ id: 'goes-on', recorder: 'agent', history: 'elsewhere' },
        request: {
          ...{ form: 'wire', method: 'POST', path: '/v1/responses' },
          body: { text: JSON.stringify({ model: 'm-1', input: 'And now?', previous_response_id: 'resp_1' }) },
        },
        end: {
          ...{ status: 'answered', first_byte_ms: 300, duration_ms: 900, error: null },
          response: {
            ...{ form: 'wire', http_status: 200, content_type: 'application/json' },
            body: { text: JSON.stringify({ model: 'm-1', status: 'completed', ...answer }) },
          },
        },
      },
    });
    const { page, faults, screenshot } = await stage.open({ address: '?h=elsewhere&at=@c1' });
    await page.getByRole('region', { name: 'The answer' }).getByText('Yes.').waitFor();
    expect(await page.getByRole('region', { name: 'Not shown here' }).innerText()).toContain(
      'The model was shown more than the thread: previous_response_id names what its provider has.',
    );
    await screenshot('not-shown');
    expect(await seriousFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  },
);

test('events come as they are recorded, wait while the list is paused, and are filtered by type and text', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=support&show=events',
    colorScheme: 'dark',
  });
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  const list = page.getByRole('list', { name: 'Events, newest first' });
  await list.getByText('SnapshotCommitted').first().waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  const send = (id: string, content: string) =>
    stage.client.command({
      history: 'support',
      body: { id, recorder: 'test', steps: [insert(id, 'user', content)] },
    });
  await send('while-paused', 'while you look');
  await page.getByRole('button', { name: '1 new: go on' }).click();
  await list.getByText('while you look').first().waitFor();
  await page.getByRole('combobox', { name: 'Type of event' }).selectOption('NodeExpired');
  await expect.poll(() => list.locator('b').allInnerTexts()).toEqual(['NodeExpired']);
  expect(paramOf(page, 'type')).toBe('NodeExpired');
  await page.getByRole('combobox', { name: 'Type of event' }).selectOption('');
  await page.getByRole('textbox', { name: 'Text in an event' }).fill('while you look');
  await expect.poll(() => list.locator('.event-open').count()).toBe(1);
  await list.locator('.event-open').click();
  await list.getByRole('button', { name: /^Copy/ }).waitFor();
  await screenshot('events-view');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('the stages of a call say what is kept and what is otherwise than at the call before; the system page says what state all is in', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=support&show=stages&at=@c4' });
  const view = page.getByRole('region', { name: 'Stage' });
  await view.getByText('since the call before').waitFor();
  await page.getByRole('button', { name: 'RAW' }).click();
  await expect.poll(() => paramOf(page, 'part')).toBe('RAW');
  await view.getByText('everything that was recorded').waitFor();
  await expect.poll(() => view.locator('.is-new').count()).toBeGreaterThan(0);
  await screenshot('stages-view');
  expect(await seriousFaults(page)).toEqual([]);
  await page.keyboard.press('y');
  await page.getByRole('region', { name: 'Log and rows' }).getByRole('table').waitFor();
  expect(await page.getByRole('region', { name: 'Sizes' }).innerText()).toContain('histories');
  expect(await page.getByRole('region', { name: 'Versions' }).innerText()).toMatch(
    /Stemma\s+\d+\.\d+\.\d+\s+Node\.js\s+\d+\.\d+\.\d+\s+frames of the log\s+version \d+\s+rows\s+\w/,
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await screenshot('system-view-narrow');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('a selector counts and walks its matches, its errors stand under the character, and the address keeps it', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=support&at=@c4' });
  await page.getByRole('tree', { name: 'Context tree at @c4' }).waitFor();
  await page.keyboard.press('n');
  const bar = page.getByRole('search', { name: 'Nodes of the tree' });
  await bar.getByRole('combobox', { name: 'Selector' }).fill(".cb[role='assistant']");
  await expect.poll(() => bar.getByRole('status').innerText()).toMatch(/^3/);
  expect(await page.locator('.node.is-match').count()).toBe(3);
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'node')).toBe('call');
  await page.keyboard.press('Shift+Enter');
  await expect.poll(() => paramOf(page, 'node')).toBe('yes');
  await expect.poll(() => bar.getByRole('status').innerText()).toMatch(/^3 of 3/);
  await screenshot('selector');
  expect(await seriousFaults(page)).toEqual([]);
  await page.reload();
  await expect.poll(() => bar.getByRole('status').innerText()).toMatch(/^3 of 3/);
  await bar.getByRole('combobox', { name: 'Selector' }).fill(".cb[role='assistant'");
  await bar.getByRole('alert').waitFor();
  expect(await bar.locator('.selector-fault code').innerText()).toMatch(/^ {20}\^$/);
  expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
});

test('the words of the tree are one key away, and a node is copied as text, JSON, link and command', async () => {
  const { page, faults } = await stage.open({ address: '?h=support&at=@c4&node=ask' });
  const detail = page.getByRole('complementary', { name: 'Selected node' });
  await detail.getByRole('button', { name: 'Copy text' }).waitFor();
  for (const words of ['JSON', 'link', 'as a command'])
    expect(await detail.getByRole('button', { name: `Copy ${words}` }).count()).toBe(1);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await detail.getByRole('button', { name: 'Copy as a command' }).click();
  await detail.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("stemma show 'support' @c4 '#ask'");
  await page.keyboard.press('l');
  const legend = page.getByRole('dialog', { name: 'What the words mean' });
  await legend.getByText('the system header').waitFor();
  expect(await legend.innerText()).toContain('its ttl ran out');
  expect(await seriousFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await legend.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
});
