import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { ctreeJsonl } from './ctree-jsonl/importer.ts';
import type { Importer } from './importer.ts';
import { openaiChat } from './openai-chat/importer.ts';
import { pact } from './pact.ts';
import { steps } from './steps/importer.ts';

/** Every format that can be imported. `auto` takes the first one that recognises the first value of a file. */
export const IMPORTERS: readonly Importer[] = [steps, ctreeJsonl, pact, openaiChat];

const NAMES = IMPORTERS.map(({ name }) => name).join(', ');

/** @throws E_FORMAT_UNKNOWN */
export const importerNamed = (name: string): Importer => {
  const found = IMPORTERS.find((importer) => importer.name === name);
  if (found === undefined)
    throw fail('E_FORMAT_UNKNOWN', `${JSON.stringify(name)} is none of the formats ${NAMES}`);
  return found;
};

/** @throws E_FORMAT_UNKNOWN */
export const importerFor = (first: WideJson, file: string): Importer => {
  const found = IMPORTERS.find((importer) => importer.recognises(first));
  if (found === undefined) throw fail('E_FORMAT_UNKNOWN', `${file} looks like none of the formats ${NAMES}`);
  return found;
};
