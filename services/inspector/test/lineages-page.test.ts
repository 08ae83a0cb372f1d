import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from './browser.ts';
import { openStage, type Stage } from './stage.ts';
import { recorderOf } from './tell-histories.ts';
import { tellLineages } from './tell-lineages.ts';

const executable = findChromium();

/** Waits for a value, as long as a busy machine may need. */
const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 20_000, interval: 30 });

let stage: Stage;

describe.skipIf(executable === undefined)('lineages and interventions in a browser', () => {
  beforeAll(async () => {
    stage = await openStage(executable ?? '');
    await tellLineages(stage.client, recorderOf(stage.client));
  });
  afterEach(() => stage.closePages());
  afterAll(() => stage.close());

  test('the lineages and what observers did are shown in light and dark, and in a narrow window', async () => {
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 600],
    ] as const)
      for (const [name, address, sign] of [
        ['lineages', '?h=trial:with-hint&side=lineages', '.lineage'],
        ['many', '?h=many&side=lineages', '.lineage'],
        ['alone', '?h=alone&side=lineages', '.hint'],
        ['acts', '?h=trial&side=interventions&act=hint', '.calls li'],
        ['no-acts', '?h=alone&side=interventions', '.hint'],
      ] as const) {
        const { page, screenshot, faults } = await stage.open({ address, width, colorScheme: scheme });
        await soon(() => page.locator(sign).count()).toBeGreaterThan(0);
        await soon(() => page.locator('.message').count()).toBeGreaterThan(0);
        await screenshot(`${name}-${scheme}-${width}`);
        expect(faults).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      }
  });
});
