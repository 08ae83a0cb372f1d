import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { MARKUP, recordBranches } from './record-branches.ts';
import { COMMIT, insert, recorderOf, type Recorder } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

/** Waits for a value, as long as a busy machine may need. */
const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 120_000, interval: 30 });

let record: Recorder;
const stage = useStage(async (client) => {
  record = recorderOf(client);
  await recordBranches(client, record);
});

const names = (page: Page) => page.locator('.branch b').allInnerTexts();
const messages = (page: Page) => page.locator('.message-id').allInnerTexts();
const chosenBranch = (page: Page) => page.locator('.branch-name[aria-current] b').allInnerTexts();
const acts = (page: Page) => page.locator('.act .badge.type').allInnerTexts();

describe('branches and interventions in a browser', () => {
  test('the page draws the branches of a history, marks abandoned ones, and links to every branch, point and saved position', async () => {
    const { page, faults, screenshot } = await stage.open({ address: '?h=trial&side=branches' });
    await soon(() => names(page)).toEqual([':0', 'old-future', 'main', 'with-hint']);
    expect(await page.locator('.branch.is-abandoned b').allInnerTexts()).toEqual([':0']);
    expect(await page.locator('.branch-line.is-abandoned').count()).toBe(1);
    expect(await page.locator('.flag').allInnerTexts()).toEqual(['before-doubt']);
    await soon(() => chosenBranch(page)).toEqual(['main']);
    await soon(() => messages(page)).toContain('again');
    await soon(() => page.locator('.branch.is-chosen .here').count()).toBe(1);
    await screenshot('branches');

    // What was left can still be looked at, whole.
    await page.locator('.branch b', { hasText: ':0' }).click();
    await soon(() => messages(page)).toContain('q8');
    expect(paramOf(page, 'h')).toMatch(/:0$/);
    await soon(() => chosenBranch(page)).toEqual([':0']);
    await page.getByRole('button', { name: '@c5, saved as before-doubt, fork with-hint' }).click();
    await soon(() => page.locator('.at').innerText()).toBe('@c5');
    await soon(() => messages(page)).toEqual(['q1', 'q2', 'q3', 'q4', 'q5']);
    expect(paramOf(page, 'side')).toBe('branches');

    // By keyboard: down to the next branches, and Enter.
    await page.locator('.branch-name').first().focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await soon(() => chosenBranch(page)).toEqual(['with-hint']);
    await soon(() => messages(page)).toContain('the-hint');
    await page.goBack();
    await soon(() => chosenBranch(page)).toEqual([':0']);
    for (const [key, region] of [
      ['c', 'Cycles'],
      ['i', 'Interventions'],
      ['b', 'Branches'],
    ] as const) {
      await page.keyboard.press(key);
      await soon(() => page.getByRole('region', { name: region, exact: true }).count()).toBe(1);
    }
    expect(faults).toEqual([]);
  });

  test('the switch in the page header changes the branch, and shows the present one however the address names it', async () => {
    const { page, faults } = await stage.open({ address: '?h=trial:with-hint' });
    const branch = page.getByRole('combobox', { name: 'branch' });
    const shown = () => branch.locator('option:checked').innerText();
    await soon(shown).toBe('with-hint');
    expect(await branch.locator('option').allInnerTexts()).toEqual([':0', 'with-hint', 'main', 'old-future']);
    expect(await page.locator('.history[aria-current] .history-name').innerText()).toBe('trial');
    await soon(() => messages(page)).toContain('the-hint');
    await branch.selectOption({ label: 'old-future' });
    await soon(() => messages(page)).toContain('q8');
    expect(await shown()).toBe('old-future');
    await branch.selectOption({ label: 'main' });
    await soon(() => messages(page)).toContain('again');
    expect(await shown()).toBe('main');
    await page.goBack();
    await soon(shown).toBe('old-future');
    expect(faults).toEqual([]);
  });

  test('two hundred branches can be scrolled, and only those in view are in the document', async () => {
    const { page, faults } = await stage.open({ address: '?h=many:try-198&side=branches' });
    await soon(() => chosenBranch(page)).toEqual(['try-198']);
    expect(await page.locator('.branch').count()).toBeLessThan(40);
    const list = page.getByRole('list', { name: 'Branches' });
    await list.evaluate((box) => (box.scrollTop = box.scrollHeight));
    // However many lines pass what is in view.
    expect(await page.locator('.branch-list *').count()).toBeLessThan(900);
    const last = page.locator('.branch').last();
    await soon(() => last.locator('.branch-said').innerText()).toMatch(/^fork at (@c1|@s\d+)$/);
    const name = await last.locator('b').innerText();
    await last.locator('.branch-name').click();
    await soon(() => chosenBranch(page)).toEqual([name]);
    expect(await page.locator('.branch').count()).toBeLessThan(40);
    expect(faults).toEqual([]);
  });

  test('what leaves a branch is folded away and unfolded, and a branch that somebody goes to is drawn', async () => {
    const { page, faults, screenshot } = await stage.open({ address: '?h=many&show=branches', width: 1440 });
    const drawing = page.getByRole('region', { name: 'Drawing of the branches' });
    const names = () => drawing.locator('.branch-name b').allInnerTexts();
    await drawing.getByRole('button', { name: 'Fold all' }).click();
    await soon(names).toEqual(['main']);
    await screenshot('branches-folded');
    await drawing.getByRole('button', { name: '199 branches below main' }).click();
    await soon(async () => (await names()).length).toBeGreaterThan(10);
    const folded = drawing.locator('.branch-fold[aria-expanded="false"]').first();
    expect(await folded.innerText()).toMatch(/^▸ \d/);
    expect(await seriousFaults(page)).toEqual([]);
    // It leaves another one than main.
    await page.getByRole('combobox', { name: 'branch' }).selectOption({ label: 'try-198' });
    await soon(() => drawing.locator('.branch.is-chosen b').allInnerTexts()).toEqual(['try-198']);
    await drawing.getByRole('button', { name: 'Unfold all' }).click();
    await drawing.getByRole('button', { name: 'Fold all' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('positions that stand as one are told apart by enlarging, by a click or by keys, and names stay in view', async () => {
    const { page, faults, screenshot } = await stage.open({ address: '?h=many&show=branches', width: 1180 });
    const drawing = page.getByRole('region', { name: 'Drawing of the branches' });
    const list = drawing.getByRole('list', { name: 'Branches' });
    const across = () => list.evaluate((box) => box.scrollWidth / box.clientWidth);
    await drawing.locator('.point').first().waitFor();
    expect(await across()).toBe(1);
    const many = drawing.getByRole('button', { name: /^\d+ positions, @[cs]\d+ to @[cs]\d+: enlarge/ });
    const before = await many.first().getAttribute('aria-label');
    await many.first().click();
    await soon(across).toBeGreaterThan(1.5);
    await soon(() => drawing.locator('.point').first().getAttribute('aria-label')).not.toBe(before);
    await screenshot('branches-enlarged');
    const [box, name] = [
      await list.boundingBox(),
      await drawing.locator('.branch-name b').first().boundingBox(),
    ];
    expect(name?.x).toBeGreaterThan(box?.x ?? Infinity);
    expect(await seriousFaults(page)).toEqual([]);
    await list.focus();
    for (let n = 0; n < 12; n++) await page.keyboard.press('+');
    await soon(() => many.count()).toBe(0);
    await page.keyboard.press('0');
    await soon(across).toBe(1);
    expect(faults).toEqual([]);
  });

  test('for a history of one branch without interventions the page shows how to fork it and how to intervene', async () => {
    const { page, faults, screenshot } = await stage.open({ address: '?h=alone&side=branches' });
    await soon(() => names(page)).toEqual(['main']);
    await soon(() => page.locator('.hint').innerText()).toContain('./stemma fork alone @c1 --name what-if');
    await screenshot('branches-alone');
    await page.keyboard.press('i');
    await soon(() => page.locator('.hint').innerText()).toContain('./stemma inject alone');
    expect(faults).toEqual([]);
  });

  test('interventions are listed newest first, filtered by the address, and their positions are links', async () => {
    const { page, faults } = await stage.open({ address: '?h=trial&side=interventions' });
    await soon(() => acts(page)).toEqual([
      'annotate',
      'message_inject',
      'config_change',
      'fork',
      'rollback',
      'message_inject',
      'fork',
      'save',
    ]);
    await page.getByRole('combobox', { name: 'Actor' }).selectOption('ann');
    await soon(() => acts(page)).toEqual(['message_inject', 'fork', 'save']);
    await page.getByRole('combobox', { name: 'Type' }).selectOption('fork');
    await soon(() => acts(page)).toEqual(['fork']);
    expect([paramOf(page, 'actor'), paramOf(page, 'type')]).toEqual(['ann', 'fork']);
    await page.getByRole('combobox', { name: 'Type' }).selectOption('run');
    await page.getByRole('button', { name: 'Show all' }).click();
    await soon(() => acts(page)).toHaveLength(8);
    // The rollback goes from a position of what it left to one of what went on.
    const rollback = page.locator('.act', { hasText: 'rollback' });
    await rollback.locator('.place').first().click();
    await soon(() => page.locator('.at').innerText()).toBe('@s9');
    expect(paramOf(page, 'h')).toMatch(/:0$/);
    await soon(() => messages(page)).toContain('q8');
    await rollback.locator('.place').last().click();
    await soon(() => messages(page)).toEqual(['q1', 'q2', 'q3', 'q4', 'q5', 'q6']);
    expect(faults).toEqual([]);
  });

  test('a selected intervention is shown with all its fields, later notes, and the calls that were shown its blocks', async () => {
    const { page, faults, screenshot } = await stage.open({
      address: '?h=trial:with-hint&side=interventions',
    });
    await page.locator('.act', { hasText: 'Think of the pool size' }).click();
    const detail = page.getByRole('complementary', { name: 'Selected intervention' });
    await soon(() => detail.locator('.impact').innerText()).toContain('3 calls saw it');
    for (const word of ['the first of two', 'Think of the pool size first.', 'manual', 'hint'])
      expect(await detail.innerText()).toContain(word);
    await screenshot('intervention');
    await detail.locator('.calls .place', { hasText: '@c7' }).click();
    await soon(() => page.locator('.at').innerText()).toBe('@c7');
    await soon(() => messages(page)).toContain('answer');
    expect(paramOf(page, 'intervention')).toBe('hint');
    await detail.locator('.calls').getByRole('button', { name: 'the-hint' }).last().click();
    const node = page.getByRole('complementary', { name: 'Selected node' });
    await soon(() => node.getByRole('region', { name: 'Why' }).innerText()).toMatch(
      /inserted under ah[\s\S]*ann[\s\S]*the first of two[\s\S]*sealed into/,
    );
    // Who did it leads back to what they did.
    await node.getByRole('region', { name: 'Why' }).getByRole('button', { name: 'ann' }).click();
    await soon(() => detail.count()).toBe(1);
    await page.keyboard.press('Escape');
    await soon(() => detail.count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('hostile actors, notes and contents are text: nothing of them runs, hides or breaks the page', async () => {
    const { page, faults, screenshot } = await stage.open({
      address: '?h=trial&side=interventions&intervention=back',
    });
    await soon(() => acts(page)).toHaveLength(8);
    const detail = page.getByRole('complementary', { name: 'Selected intervention' });
    await soon(() => detail.locator('h2').innerText()).toContain(MARKUP);
    expect(await page.locator('.feed img, .feed script, .detail img').count()).toBe(0);
    expect(
      await page.locator('.act', { hasText: 'rollback' }).locator('.hidden-character').allInnerTexts(),
    ).toEqual(['202E', '202C']);
    expect(await page.getByRole('combobox', { name: 'Actor' }).locator('option').allInnerTexts()).toEqual([
      'every actor',
      'bob',
      MARKUP,
      'ann',
    ]);
    await screenshot('interventions-hostile');
    expect(faults).toEqual([]);
  });

  test('new interventions and forks appear live, and all pages of them can be reached', async () => {
    await stage.client.start({ body: { id: 'start-live', recorder: 'test', name: 'live' } });
    await record('live', insert('one', 'user', 'first'), COMMIT);
    const act = (id: string, ...steps: Parameters<Recorder>[1][]) =>
      stage.client.command({ history: 'live', body: { id, actor: 'ann', notes: '', steps } });
    const { page, faults } = await stage.open({ address: '?h=live&side=interventions' });
    await soon(() => page.locator('.hint').count()).toBe(1);
    await soon(() => page.getByRole('status').innerText()).toBe('live');
    await act('first', { op: 'inject', text: 'now' });
    await soon(() => acts(page)).toEqual(['message_inject']);
    await act('second', { op: 'fork', at: '@c1', name: 'aside' });
    await soon(() => acts(page)).toEqual(['fork', 'message_inject']);
    await page.keyboard.press('b');
    await soon(() => names(page)).toEqual(['main', 'aside']);
    for (let n = 0; n < 60; n++) await act(`note-${n}`, { op: 'annotate', note: `note ${n}` });
    await page.keyboard.press('i');
    await soon(() => acts(page)).toHaveLength(50);
    await page.getByRole('button', { name: 'Show 50 older ones' }).click();
    await soon(() => acts(page)).toHaveLength(62);
    expect(await page.getByRole('button', { name: /older ones/ }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('branches and interventions fit a narrow window and the dark scheme', async () => {
    for (const [name, address, sign] of [
      ['branches', '?h=trial:with-hint&side=branches', '.branch'],
      ['many', '?h=many:try-18&side=branches', '.branch'],
      ['intervention', '?h=trial&side=interventions&intervention=hint', '.calls li'],
      ['why', '?h=trial:with-hint&at=@c6&node=the-hint', '.story li'],
    ] as const)
      for (const [width, colorScheme] of [
        [600, 'light'],
        [1280, 'dark'],
      ] as const) {
        const { page, faults, screenshot } = await stage.open({ address, width, colorScheme });
        await soon(() => page.locator(sign).count()).toBeGreaterThan(0);
        await soon(() => page.locator('.message').count()).toBeGreaterThan(0);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        await screenshot(`${name}-${colorScheme}-${width}`);
        expect(faults).toEqual([]);
        // Six pages that follow the events are all that a browser connects to one server.
        await stage.closePages();
      }
  });
});
