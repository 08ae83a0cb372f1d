import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { anthropicForm } from './anthropic-messages/form.ts';
import { anthropicRequests } from './anthropic-messages/importer.ts';
import { ctreeJsonl } from './ctree-jsonl/importer.ts';
import { FOREIGN } from './foreign/catalogue.ts';
import { foreignImporter } from './foreign/foreign-importer.ts';
import { UNSUPPORTED } from './foreign/unsupported.ts';
import { geminiForm } from './gemini/form.ts';
import { geminiRequests } from './gemini/importer.ts';
import type { Importer } from './importer.ts';
import { chatForm } from './openai-chat/form.ts';
import { messageListImporter, openaiChat } from './openai-chat/importer.ts';
import { responsesForm } from './openai-responses/form.ts';
import { responsesRequests } from './openai-responses/importer.ts';
import { pact } from './pact.ts';
import type { RequestForm } from './request-form.ts';
import { steps } from './steps/importer.ts';

/** How `auto` recognises a format: by its importer, of one that has one value a line, or by the form of a request. */
type Recognised = { readonly isOfLines: true } | { readonly form: RequestForm };

/** Formats of other programs: asked before those that look only at the form of messages. */
const OF_OTHERS = FOREIGN.map(foreignImporter);

/** Every format that can be imported. Of two forms that a request may have, the later one is taken. */
const FORMATS: readonly (Recognised & { readonly importer: Importer })[] = [
  { importer: steps, isOfLines: true },
  { importer: ctreeJsonl, isOfLines: true },
  { importer: pact, isOfLines: true },
  { importer: openaiChat, form: chatForm },
  { importer: geminiRequests, form: geminiForm },
  { importer: responsesRequests, form: responsesForm },
  { importer: anthropicRequests, form: anthropicForm },
];

export const IMPORTERS: readonly Importer[] = [...FORMATS.map(({ importer }) => importer), ...OF_OTHERS];

/** Formats that have one value a line. */
const OF_LINES = FORMATS.flatMap((each) => ('form' in each ? [] : [each.importer]));

/** Where nobody says which, each conversation of a file is of the API that it looks like; a bare list is a chat. */
const anyMessages = messageListImporter(
  openaiChat.name,
  openaiChat.summary,
  chatForm,
  ...FORMATS.flatMap((each) => ('form' in each && each.form !== chatForm ? [each.form] : [])),
);

/** What `auto` takes the first of that recognises the first value of a file. */
const AUTO: readonly Importer[] = [...OF_LINES, ...OF_OTHERS, anyMessages];

const NAMES = IMPORTERS.map(({ name }) => name).join(', ');

/** @throws E_FORMAT_UNKNOWN */
export const importerNamed = (name: string): Importer => {
  const found = IMPORTERS.find((importer) => importer.name === name);
  if (found === undefined)
    throw fail('E_FORMAT_UNKNOWN', `${JSON.stringify(name)} is none of the formats ${NAMES}`);
  return found;
};

/** @throws E_FORMAT_UNKNOWN, E_FORMAT_UNSUPPORTED */
export const importerFor = (first: WideJson, file: string): Importer => {
  const unsupported = UNSUPPORTED.find(({ recognises }) => recognises(first));
  if (unsupported !== undefined)
    throw fail('E_FORMAT_UNSUPPORTED', `${file} is ${unsupported.what}: ${unsupported.instead}`);
  const [item] = Array.isArray(first) ? (first as readonly WideJson[]) : [];
  const ofLines = item === undefined ? undefined : OF_LINES.find((importer) => importer.recognises(item));
  if (ofLines !== undefined)
    throw fail(
      'E_FORMAT_UNKNOWN',
      `${file} is a list of what the format ${ofLines.name} has on lines: write each item on a line of its own (jq -c '.[]')`,
    );
  const found = AUTO.find((importer) => importer.recognises(first));
  if (found === undefined) throw fail('E_FORMAT_UNKNOWN', `${file} looks like none of the formats ${NAMES}`);
  return found;
};

/** What a list that begins with this item is read by; undefined where {@link importerFor} says what is wrong with it. */
export const importerForItems = (first: WideJson): Importer | undefined =>
  OF_LINES.some((importer) => importer.recognises(first))
    ? undefined
    : AUTO.find((importer) => importer.recognises([first]));
