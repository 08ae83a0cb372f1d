import { createClient, type ApiClient } from '@stemma/api';
import { serveGateway } from '@stemma/gateway';
import { openHome, type Home } from '@stemma/home';
import { NO_CHROMIUM } from '@stemma/test-kit';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { findChromium, openBrowser, watch } from './browser.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ARTIFACTS = join(ROOT, 'artifacts');

/** What a page is opened with: the part of its address behind the path, the size of its window, and the scheme of its colours. */
export type Opening = {
  readonly address?: string;
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
};

/** A page in a browser, and what it did that it should not have. */
export type Opened = {
  readonly page: Page;
  readonly faults: readonly string[];
  readonly screenshot: (name: string) => Promise<unknown>;
};

/** The built page on a gateway over a home of its own, and a browser to look at it. */
export type Stage = {
  readonly client: ApiClient;
  readonly home: Home;
  /** Where the built page lies. */
  readonly dist: string;
  readonly url: string;
  open(opening?: Opening): Promise<Opened>;
  closePages(): Promise<void>;
  close(): Promise<void>;
};

/** Where the built page lies: that of `npm test`, which says that it is current, else one that is built into a folder. */
export const builtPage = async (folder: string): Promise<string> => {
  if (process.env['STEMMA_TEST_BUILT'] === '1') return join(ROOT, 'dist');
  await build({
    root: ROOT,
    configFile: join(ROOT, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: folder },
  });
  return folder;
};

const openStage = async (executable: string): Promise<Stage> => {
  const directory = await mkdtemp(join(tmpdir(), 'stemma-page-'));
  await mkdir(ARTIFACTS, { recursive: true });
  const dist = await builtPage(join(directory, 'dist'));
  const home = await openHome({ directory: join(directory, 'home'), create: true });
  const gateway = await serveGateway({ home, port: 0, page: dist });
  const browser = await openBrowser(executable);
  return {
    client: createClient((url, options) => fetch(url, options), gateway.url),
    home,
    dist,
    url: gateway.url,
    open: async ({ address = '', width = 1280, height = 800, colorScheme = 'light' } = {}) => {
      const page = await browser.context.newPage();
      const faults = watch(page, gateway.url);
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.goto(`${gateway.url}/${address}`);
      return {
        page,
        faults,
        screenshot: (name) => page.screenshot({ path: join(ARTIFACTS, `${name}.png`) }),
      };
    },
    closePages: async () => {
      for (const one of browser.context.pages().slice(1)) await one.close();
    },
    close: async () => {
      await browser.close();
      await gateway.close();
      await home.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/**
 * A stage for the tests around it: opened before the first one, its pages closed after each. Without Chromium they are skipped.
 *
 * @param prepare records what the tests look at
 */
export const useStage = (
  prepare: (client: ApiClient) => Promise<void> = () => Promise.resolve(),
): Omit<Stage, 'close'> => {
  const executable = findChromium();
  let opened: Stage | undefined;
  const stage = (): Stage => {
    if (opened === undefined) throw new Error('the stage is open while tests run');
    return opened;
  };
  beforeAll(async () => {
    if (executable === undefined) return;
    opened = await openStage(executable);
    await prepare(opened.client);
  });
  afterAll(() => opened?.close());
  afterEach(() => opened?.closePages());
  beforeEach(({ skip }) => {
    if (executable === undefined) skip(NO_CHROMIUM);
  });
  return {
    get client() {
      return stage().client;
    },
    get home() {
      return stage().home;
    },
    get dist() {
      return stage().dist;
    },
    get url() {
      return stage().url;
    },
    open: (opening) => stage().open(opening),
    closePages: () => stage().closePages(),
  };
};

/** What the address of a page says of a name. */
export const paramOf = (page: Page, name: string): string | null =>
  new URL(page.url()).searchParams.get(name);
