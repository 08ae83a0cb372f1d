// Takes a picture of the page for the documents, of a server that runs (look at it before you commit it):
//   node services/inspector/test/take-picture.ts 'http://127.0.0.1:7836/?h=slow-checkout&at=@c9' docs/images/inspector.png
// or one that moves, with a key pressed between two of its frames:
//   node services/inspector/test/take-picture.ts 'http://127.0.0.1:7836/?h=slow-checkout&at=@c6&show=call' docs/images/film.svg ArrowRight 6
import { fail } from '@stemma/errors';
import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { findChromium, openBrowser } from './browser.ts';

const SECONDS_A_FRAME = 1.4;

const [url, file, key, times = '0'] = process.argv.slice(2);
if (url === undefined || file === undefined) throw fail('E_USAGE', 'say the address of the page and a file');

/** Nothing more comes from the server once what the page shows is there. */
const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.querySelector('[aria-busy="true"], .pending') === null);

/** An SVG that shows one picture after the other, for ever; readers that show no motion see the first. */
const movingPicture = (
  frames: readonly Buffer[],
  { width, height }: { width: number; height: number },
): string => {
  const all = frames.length * SECONDS_A_FRAME;
  const share = 100 / frames.length;
  const images = frames.map(
    (frame, i) =>
      `<image width="${width}" height="${height}" class="frame" style="animation-delay:${(i * SECONDS_A_FRAME).toFixed(1)}s" href="data:image/png;base64,${frame.toString('base64')}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<style>.frame{opacity:0;animation:frame ${all.toFixed(1)}s step-end infinite}.frame:first-of-type{opacity:1}@keyframes frame{0%{opacity:1}${share.toFixed(3)}%{opacity:0}}</style>`,
    ...images,
    '</svg>',
    '',
  ].join('\n');
};

const browser = await openBrowser(findChromium() ?? '');
const page = await browser.context.newPage();
const size = { width: 1180, height: 580 };
await page.setViewportSize(size);
await page.emulateMedia({ colorScheme: 'light' });
await page.goto(url);
await page.locator('.message-id, .card-columns').first().waitFor();
await settled(page);
if (key === undefined) await page.screenshot({ path: file });
else {
  const frames: Buffer[] = [await page.screenshot()];
  for (let i = 0; i < Number(times); i++) {
    await page.keyboard.press(key);
    await settled(page);
    // What moves on a step has come to rest.
    await page.waitForTimeout(300);
    frames.push(await page.screenshot());
  }
  writeFileSync(file, movingPicture(frames, size));
}
await browser.close();
