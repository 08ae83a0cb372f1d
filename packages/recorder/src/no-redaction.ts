import { fail } from '@stemma/errors';
import type { redactingBackend as inProcess } from './redacting-backend.ts';

/** What a bundle for a browser has instead of rules: the server has its own. @throws E_USAGE */
export const redactingBackend: typeof inProcess = () => {
  throw fail('E_USAGE', 'a page has no rules of redaction: give them to the server');
};
