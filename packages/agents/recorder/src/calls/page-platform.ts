import { openMemorySpool } from '../spool/memory-spool.ts';
import type { CallPlatform } from './platform.ts';

/** Replaces `node-platform.ts` in a bundle for a browser: calls wait in memory. */
export const platform: CallPlatform = {
  env: () => undefined,
  absolute: (path) => path,
  spoolFolder: () => undefined,
  folderOf: (folder) => folder,
  openSpool: ({ limit }) => openMemorySpool(limit),
  post: async (url, json, timeout) => {
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(timeout);
    const response = await globalThis.fetch(url, { method: 'POST', headers, body: json, signal });
    return { status: response.status, text: await response.text() };
  },
  onIdle: () => () => undefined,
  onExit: () => () => undefined,
  soon: (act) => act(),
  later: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
  say: (sentence) => console.warn(`stemma: ${sentence}`),
};
