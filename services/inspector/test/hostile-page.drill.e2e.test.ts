import { HIDDEN_CHARACTERS } from '@stemma/errors';
import { sized } from '@stemma/test-kit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { DIALOGS, SHOWS } from '../src/page/address.ts';
import { HIT, HOSTILE_TEXTS } from './hostile-texts.ts';
import { recordHostile, type Taken } from './record-hostile.ts';
import { useStage } from './stage.ts';

/** In CI all of them, else some of every sort. */
const TEXTS = HOSTILE_TEXTS.filter((_, n) => n % sized(5, 1) === 0);

let taken: Taken = {};
const stage = useStage(async (client) => {
  taken = await recordHostile(client, stage.home, TEXTS);
});

/** Notes, before a page's own code runs, what is refused or reported, and looks at the page whenever it is asked to. */
const watchInside = (page: Page): Promise<unknown> =>
  page.addInitScript(
    ({ hidden, hit }) => {
      const refused: string[] = [];
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
        refused.push(`policy: ${violatedDirective} ${blockedURI}`),
      );
      const HIDDEN = new RegExp(hidden, 'u');
      const looked = new WeakMap<Node, string>();
      const NAMES = ['title', 'aria-label', 'alt', 'placeholder', 'value', 'href', 'src', 'srcdoc', 'style'];
      const lookAt = (element: Element): string[] => {
        const found: string[] = [];
        const name = element.tagName.toLowerCase();
        const said = (): string => element.outerHTML.slice(0, 200);
        if (
          /^(?:iframe|object|embed|base|form-|math|style|template|plaintext|xmp|marquee|audio|video)$/.test(
            name,
          )
        )
          if (!(name === 'style' && element.closest('head') !== null)) found.push(`element: ${said()}`);
        if (name === 'script' && !/^\/assets\//.test(element.getAttribute('src') ?? ''))
          found.push(`script: ${said()}`);
        if (
          name === 'img' &&
          !/^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(
            element.getAttribute('src') ?? '',
          )
        )
          found.push(`picture: ${said()}`);
        if (name === 'a' && !/^(?:https?:\/\/|\/|\?|\.\/|#)/i.test(element.getAttribute('href') ?? ''))
          found.push(`link: ${said()}`);
        for (const { name: attribute, value } of element.attributes) {
          if (attribute.startsWith('on')) found.push(`handler: ${said()}`);
          // What is typed into a field is the text itself.
          if (
            NAMES.includes(attribute) &&
            !(attribute === 'value' && /^(?:input|option)$/.test(name)) &&
            HIDDEN.test(value)
          )
            found.push(`hidden in ${attribute}: ${said()}`);
        }
        return found;
      };
      const look = (): string[] => {
        const found: string[] = [];
        for (const element of document.querySelectorAll('*')) found.push(...lookAt(element));
        const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
          const text = node.nodeValue ?? '';
          if (looked.get(node) === text) continue;
          looked.set(node, text);
          if (HIDDEN.test(text) && node.parentElement?.closest('textarea, script') == null)
            found.push(
              `hidden text: ${node.parentElement?.outerHTML.slice(0, 200) ?? ''} ${JSON.stringify(text.slice(0, 80))}`,
            );
        }
        if (HIDDEN.test(document.title)) found.push(`hidden in the title: ${JSON.stringify(document.title)}`);
        if (hit in globalThis) found.push('something ran');
        return [...found, ...refused.splice(0)];
      };
      Object.assign(globalThis, { look });
    },
    { hidden: HIDDEN_CHARACTERS.source, hit: HIT },
  );

/** Waits for what the page fetches and looks; then goes through every list and pane of this part, if one is named, and looks again. */
const walk = async (page: Page, part: string | null): Promise<readonly string[]> => {
  await page.locator('.views, .runs-bar').or(page.locator('.welcome')).first().waitFor();
  await page
    .waitForFunction(() => document.querySelector('.pending, [aria-busy="true"]') === null, null, {
      timeout: 20_000,
    })
    .catch(() => undefined);
  return page.evaluate(async (within) => {
    const { look } = globalThis as unknown as { look: () => string[] };
    const drawn = (): Promise<unknown> =>
      new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const found = look();
    if (within === null) return found.slice(0, 8);
    // Behind a dialog is what another address shows.
    const shown = document.querySelector('dialog[open]') ?? document.querySelector(within);
    const boxes = [...(shown?.querySelectorAll<HTMLElement>('*') ?? [])].filter(
      (box) =>
        box.scrollHeight > box.clientHeight + 4 &&
        box.clientHeight > 40 &&
        /auto|scroll/.test(getComputedStyle(box).overflowY),
    );
    for (const box of boxes)
      for (let step = 0; step < 40 && box.scrollTop + box.clientHeight < box.scrollHeight - 1; step++) {
        box.scrollTop += box.clientHeight * 0.9;
        await drawn();
        if (step % 4 === 3) found.push(...look());
      }
    found.push(...look());
    return [...new Set(found)].slice(0, 8);
  }, part);
};

/** Servers refuse what is not there, and a browser without a graphics card reads WebGL's pictures back. */
const EXPECTED = /the server responded with a status of 4\d\d|GPU stall due to ReadPixels/;

/** What is wrong at these addresses of the page, to which it goes one after the other. */
const faultsAt = async (
  addresses: readonly string[],
  partOf: (address: string) => string | null,
): Promise<readonly string[]> => {
  const { page, faults } = await stage.open({ address: '?h=acts' });
  await watchInside(page);
  await page.goto(`${stage.url}/${addresses[0] ?? ''}`);
  const wrong: string[] = [];
  let told = 0;
  for (const address of addresses) {
    // As the back button does: nothing is loaded anew.
    await page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
    }, address);
    const found = [
      ...(await walk(page, partOf(address))),
      ...faults.slice(told).filter((fault) => !EXPECTED.test(fault)),
    ];
    told = faults.length;
    wrong.push(...found.map((one) => `${address.slice(0, 120)} → ${one}`));
  }
  return wrong;
};

test('over two hundred hostile texts stand in every field that takes them', () => {
  expect(HOSTILE_TEXTS.length).toBeGreaterThanOrEqual(200);
  for (const [field, count] of Object.entries(taken)) {
    // A name is letters, digits, and . _ -.
    const part = /^(?:saves|branches|histories)$/.test(field) ? 0.05 : 0.75;
    expect(count, field).toBeGreaterThanOrEqual(part * TEXTS.length);
  }
});

const VIEWS = [
  ...['', '&at=open', '&view=bytes', '&view=openai', '&view=tree', '&texts=rendered'],
  ...['&side=branches', '&side=interventions'],
  ...SHOWS.map((show) => `&show=${show}`),
  ...['rounds', 'verdict'].map((part) => `&show=pool&part=${part}`),
  ...['messages', 'bytes', 'time'].map((part) => `&show=compare&a=@c1&b=@c2&part=${part}`),
  ...DIALOGS.map((dialog) => `&dialog=${dialog}`),
];

test.each(['nodes', 'acts', 'calls', 'said', 'pool'])(
  'every view of the history %s is text: nothing runs, is fetched elsewhere, reported, or hidden',
  { timeout: 600_000 },
  async (history) => {
    const addresses = VIEWS.map((view) => `?h=${history}${view}`);
    // Beside a list is what the first view has.
    expect(await faultsAt(addresses, (to) => (to.includes('&side=') ? 'aside' : 'body'))).toEqual([]);
  },
);

/** One text of so many stands in an address: a page loads what it names. */
const EVERY = sized(1, 5);
type Address = readonly [what: string, addressOf: (text: string, n: number) => string];
const ADDRESSES: readonly Address[] = [
  ['a node of this id and this selector', (text) => `?h=nodes&at=@c1&node=${text}&select=${text}`],
  [
    'an intervention with this reason, and this actor',
    (text, n) => `?h=acts&side=interventions&intervention=notes-${n}&actor=${text}&type=${text}`,
  ],
  ['a search for it', (text) => `?h=calls&find=${text}`],
  [
    'a position of this name in every view and dialog',
    (text, n) => `?h=nodes&at=${text}&other=${text}&show=${SHOWS[n % SHOWS.length] ?? ''}`,
  ],
  [
    'a dialog at a position of this name',
    (text, n) => `?h=nodes&at=${text}&node=${text}&dialog=${DIALOGS[n % DIALOGS.length] ?? ''}`,
  ],
  [
    'the history, position and view of this name',
    (text) => `?h=${text}&at=${text}&show=${text}&side=branches`,
  ],
  ['a comparison of it with itself', (text) => `?h=nodes&show=compare&a=${text}&b=${text}&part=${text}`],
  ['the messages of a pool that have it', (text) => `?h=pool&show=pool&at=open&filter=words:${text}`],
  ['a query of runs for it', (text) => `?show=runs&q="${text}"&t=${text}&group=label:${text}`],
  ['the events with it', (text) => `?h=nodes&show=events&filter=${text}&type=${text}`],
];

test.each(ADDRESSES.map(([what, addressOf], nth) => ({ what, addressOf, nth })))(
  'an address with any of the texts shows $what, and no more',
  async ({ addressOf, nth }) => {
    // Every text stands in some of the addresses.
    const addresses = TEXTS.flatMap((text, n) =>
      (n + nth) % EVERY === 0 ? [addressOf(encodeURIComponent(text.slice(0, 400).toWellFormed()), n)] : [],
    );
    expect(await faultsAt(addresses, () => null)).toEqual([]);
  },
);
