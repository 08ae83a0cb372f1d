import type { Plugin } from 'vite';

/** Threads and processes are started by the path of their file, which ends differently in a built program. */
export const startBuiltFiles: Plugin = {
  name: 'start-built-files',
  renderChunk: (code) =>
    code.replace(
      /new URL\((['"])\.\/([\w-]+)\.ts\1, import\.meta\.url\)/g,
      'new URL("./$2.js", import.meta.url)',
    ),
};
