import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { COMMIT, insert, recorderOf } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

/** A red point. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const PROSE = [
  '# What failed\n\nThe *disk* is **full**, see [the dashboard](https://example.org/d) and [this](javascript:alert(1)).',
  '- `df -h`\n- wait\n\n```sh\nrm -rf /tmp/x\n```',
  '| disk | used |\n| --- | --- |\n| a | 97 % |',
  '<img src=x onerror=alert(1)> ![a chart](https://example.org/chart.png)',
].join('\n\n');

/** Texts on which a parser of Markdown spends minutes. */
const MARKS = [
  '>'.repeat(3_900),
  `${'|a'.repeat(1_900)}\n${'|-'.repeat(1_900)}`,
  '['.repeat(3_900),
  '*a '.repeat(1_300),
];

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  await client.start({ body: { id: 'start', recorder: 'test', name: 'incident' } });
  const call = { name: 'read_metrics', arguments: JSON.stringify({ names: ['a', 'b', 'c', 'd', 'e', 'f'] }) };
  await record(
    'incident',
    insert('ask', 'user', PROSE),
    insert('picture', 'user', [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ]),
    insert('call', 'assistant', call, { kind: 'call' }),
    insert('result', 'tool', '{"a": [1, 2], "b": {"c": 12345678901234567890}}', { kind: 'result' }),
    COMMIT,
  );
  await client.start({ body: { id: 'start-marks', recorder: 'test', name: 'marks' } });
  await record('marks', ...MARKS.map((text, n) => insert(`m${n}`, 'user', text)), COMMIT);
});

test('a text is shown as it is, or as the Markdown or JSON that it may be, in which nothing runs and nothing of other hosts is fetched', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=incident',
    width: 1440,
    height: 1000,
  });
  const message = page.locator('.message[data-node="ask"]');
  await message.waitFor();
  expect(await message.innerText()).toContain('# What failed');
  await page.keyboard.press('m');
  const rendered = message.locator('.markdown');
  await rendered.waitFor();
  expect(paramOf(page, 'texts')).toBe('rendered');
  expect(await rendered.getByRole('heading').innerText()).toBe('What failed');
  expect(await rendered.getByRole('link').count()).toBe(1);
  expect(await rendered.getByRole('link').getAttribute('href')).toBe('https://example.org/d');
  expect(await rendered.innerText()).toContain('(javascript:alert(1))');
  expect(await rendered.innerText()).toContain('<img src=x onerror=alert(1)>');
  expect(await rendered.innerText()).toContain('[picture a chart (https://example.org/chart.png)]');
  expect(await rendered.locator('img').count()).toBe(0);
  expect(await rendered.getByRole('cell').count()).toBe(4);
  const result = page.locator('.message[data-node="result"]');
  expect(await result.innerText()).toContain('"c": 12345678901234567890');
  expect(await result.locator('summary').count()).toBe(1);
  await screenshot('content-rendered');
  expect(await seriousFaults(page)).toEqual([]);
  await page.keyboard.press('m');
  await expect.poll(() => message.innerText()).toContain('# What failed');
  expect(faults).toEqual([]);
});

test('pictures are shown beside their JSON, whose longer parts fold; a call of a tool stands with its arguments unfolded, and raw on demand', async () => {
  const { page, faults, screenshot } = await stage.open({
    address: '?h=incident',
    width: 1440,
    colorScheme: 'dark',
  });
  const message = page.locator('.message[data-node="picture"]');
  await message.locator('img').first().waitFor();
  expect(await message.locator('img').count()).toBe(1);
  expect(
    await message
      .locator('img')
      .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
  ).toBe(1);
  await expect.poll(() => message.innerText()).toContain('no picture that this browser can draw');
  const call = page.locator('.message[data-node="call"]');
  expect(await call.innerText()).toContain('a, b, c, d, e, f');
  await call.getByRole('button', { name: 'raw' }).click();
  expect(await call.innerText()).toContain('"f"');
  expect(await call.innerText()).not.toContain('\\"');
  await call.locator('summary').first().focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => call.innerText()).toContain('2 names');
  expect(await call.innerText()).not.toContain('"f"');
  await screenshot('content-json');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('a range of bytes leads to its node, and from there to why it is there', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=incident&view=bytes', width: 1440 });
  const range = page.locator('.byte-range').nth(1);
  await range.waitFor();
  expect(await page.locator('.byte-range').count()).toBe(4);
  expect(await range.getAttribute('title')).toMatch(/^Bytes \d+ to \d+$/);
  await range.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'node')).toBe('picture');
  expect(await range.getAttribute('aria-pressed')).toBe('true');
  await page.getByRole('complementary', { name: 'Selected node' }).waitFor();
  await screenshot('content-bytes');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('texts of nothing but marks are shown at once', async () => {
  const { page, faults } = await stage.open({ address: '?h=marks&texts=rendered' });
  await page.locator('.message[data-node="m3"] .markdown').waitFor({ timeout: 20_000 });
  expect(await page.locator('.message .markdown').count()).toBe(2);
  expect(faults).toEqual([]);
});

test('every action and history is found by its name, by keys alone', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=incident' });
  await page.locator('.message').first().waitFor();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Actions' });
  await palette.waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  await screenshot('palette');
  await page.keyboard.type('stages');
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'show')).toBe('stages');
  expect(await palette.count()).toBe(0);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('branch starts');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'dialog')).toBe('fork');
  await page.getByRole('dialog', { name: 'Intervene' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => paramOf(page, 'dialog')).toBe(null);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('marks');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('banner').innerText()).toContain('marks');
  expect(faults).toEqual([]);
});
