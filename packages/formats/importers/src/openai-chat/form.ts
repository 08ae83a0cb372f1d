import { isList, type RequestForm } from '../request-form.ts';
import { MAPPING } from './fields.ts';

/** Chat completions: `{messages, …}`. */
export const chatForm: RequestForm = {
  mapping: MAPPING,
  fields: ['messages'],
  isBody: ({ messages }) => isList(messages),
  isOwnList: () => false,
  bodyOf: (messages) => ({ messages }),
  messages: ({ messages }) => (isList(messages) ? messages : []),
};
