import { fail } from '@stemma/errors';
import type { openTextRules as rulesInProcess, redactingBackend as inProcess } from './redacting-backend.ts';

/** What a bundle for a browser has instead of rules: the server has its own. @throws E_USAGE */
export const redactingBackend: typeof inProcess = () => {
  throw fail('E_USAGE', 'a page has no rules of redaction: give them to the server');
};

/** As above. @throws E_USAGE */
export const openTextRules: typeof rulesInProcess = () => {
  throw fail('E_USAGE', 'a page has no rules of redaction: give them to the server');
};
