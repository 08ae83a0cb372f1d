import type { ComparedNode, Comparison } from '@stemma/queries';
import { findChromium, NO_CHROMIUM } from '@stemma/test-kit';
import { chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import { comparisonPage } from '../src/index.ts';

const HOSTILE = [
  '<script>window.ran = 1</script>',
  '</pre></style></script><img src=x onerror="window.ran = 2">',
  '"><svg onload=window.ran=3>',
  "'-->]]><iframe srcdoc='<script>top.ran = 4</script>'>",
  '<meta http-equiv="refresh" content="0;url=https://example.org/">',
  '<style>@import "https://example.org/a.css"; body { background: url(https://example.org/b.png) }</style>',
  '<form action="https://example.org/"><input autofocus onfocus="window.ran = 5"></form>',
  'javascript:window.ran=6 \u202e evil \u0000 \u0007 ${window.ran = 7} {{7*7}}',
  'word'.repeat(300),
];

const node = (text: string, i: number): ComparedNode => ({
  id: `${text.slice(0, 60)}${i}`,
  nodeType: `cb:${text.slice(0, 20)}`,
  role: text,
  kind: text,
  tokens: i,
  excerpt: text,
  characters: text.length + i,
});

const hostile = (): Comparison => {
  const author = { actor: HOSTILE[0] as string };
  const intervention = { type: 'message_inject', notes: HOSTILE.join(' ') } as const;
  const act = {
    seq: 4,
    branchId: 0,
    at: 1_700_000_000_000,
    author,
    command: HOSTILE[1] as string,
    intervention,
  };
  const label = '@c3<b>';
  const place = { history: HOSTILE[2] as string, branch: HOSTILE[3] as string, branchId: 0, seq: 3 };
  const position = { ...place, cycle: 3, committed: true, label };
  const counted = { position, nodes: 9, blocks: 5, turns: 3, shown: 5, tokens: 120 };
  const nodes = HOSTILE.map(node);
  const side = {
    ...counted,
    first: act,
    frames: 2,
    interventions: 300,
    interventionFrames: [act],
    added: nodes,
    removed: nodes,
    changed: nodes.map((each) => ({ ...each, fields: HOSTILE })),
  };
  return {
    history: HOSTILE[2] as string,
    relation: 'diverged',
    mergeBase: counted,
    a: side,
    b: side,
    divergedBy: { ...act, how: 'fork', side: 'b' },
    alike: [{ a: nodes[0]?.id as string, b: nodes[1]?.id as string }],
    threads: {
      same: 4,
      since: 4,
      differences: nodes.map((each) => ({
        what: 'changed',
        at: { a: 0, b: 0 },
        a: [each],
        b: [each],
        causes: [{ side: 'b', how: 'replaced', frame: act }],
        after: 4,
      })),
    },
    request: HOSTILE.map((text) => ({
      what: 'tool',
      name: text,
      change: 'changed',
      fields: [{ path: text, before: text, after: undefined }],
    })),
    cycles: [{ cycle: 4, a: { seq: 5, nodes: 1, blocks: 2, turns: 3 }, b: null, same: false }],
    moreCycles: 7,
    encoding: 'o200k_base',
  };
};

it('puts every text of a comparison on the page as text, and nothing that runs or is fetched', () => {
  const page = comparisonPage(hostile(), HOSTILE.join(' '));

  expect(page.match(/<(script|img|svg|iframe|form|input|link|object|base)\b/gi)).toBe(null);
  expect(page.match(/<style>/g)).toHaveLength(1);
  expect(page.match(/\shref=|[\u202e\u0000]/g)).toBe(null);
  expect(page).toContain('&lt;script&gt;window.ran = 1&lt;/script&gt;');
});

const executablePath = findChromium();

it(
  'shows a comparison of hostile texts in a browser: styled, on a phone too, inert and without a request',
  { tags: ['long'], timeout: 600_000 },
  async ({ skip }) => {
    if (executablePath === undefined) return skip(NO_CHROMIUM);
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox'],
    });
    try {
      const page = await browser.newPage({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
      const requests: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => void requests.push(request.url()));
      page.on('console', (message) => void complaints.push(message.text()));
      await page.setContent(comparisonPage(hostile(), HOSTILE.join(' ')), { waitUntil: 'load' });
      const seen = await page.evaluate(`({
        ran: window.ran ?? null,
        ground: getComputedStyle(document.body).backgroundColor,
        wide: document.documentElement.scrollWidth,
        scripts: document.querySelectorAll('script, img, svg, iframe, form, input, meta[http-equiv=refresh]').length,
        nodes: document.querySelectorAll('.node').length,
        texts: [...document.querySelectorAll('.node.added pre')].map((each) => each.textContent),
      })`);

      expect(seen).toEqual({
        ran: null,
        ground: 'rgb(21, 23, 26)',
        wide: 360,
        scripts: 0,
        nodes: 8 * HOSTILE.length,
        texts: expect.arrayContaining([
          expect.stringContaining(HOSTILE[0] as string),
          expect.stringContaining('\\u202e'),
        ]) as unknown,
      });
      expect({ requests: requests.filter((url) => !url.startsWith('about:')), complaints }).toEqual({
        requests: [],
        complaints: [],
      });
    } finally {
      await browser.close();
    }
  },
);
