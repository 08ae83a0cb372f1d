// Takes a picture of the page for the documents, of a server that runs (look at it before you commit it):
//   node services/inspector/test/take-picture.ts 'http://127.0.0.1:7836/?h=slow-checkout&at=@c9' docs/images/inspector.png
import { fail } from '@stemma/errors';
import { findChromium, openBrowser } from './browser.ts';

const [url, file] = process.argv.slice(2);
if (url === undefined || file === undefined) throw fail('E_USAGE', 'say the address of the page and a file');
const browser = await openBrowser(findChromium() ?? '');
const page = await browser.context.newPage();
await page.setViewportSize({ width: 1180, height: 580 });
await page.emulateMedia({ colorScheme: 'light' });
await page.goto(url);
await page.locator('.message-id').first().waitFor();
// Nothing more comes from the server once the rows that the page shows are there.
await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
await page.screenshot({ path: file });
await browser.close();
