import { fail } from '@stemma/errors';
import type { openEmbedded as openInProcess, openHomeRecording as recordInProcess } from './home-backend.ts';

/** Replaces `home-backend.ts` in a bundle for a browser, where there is no directory. @throws E_USAGE */
export const openEmbedded: typeof openInProcess = () =>
  Promise.reject(fail('E_USAGE', 'a browser has no home: record to a server (url)'));

/** Replaces it, too. @throws E_USAGE */
export const openHomeRecording: typeof recordInProcess = () => {
  throw fail('E_USAGE', 'a browser has no home: record to a server (url)');
};
