import { fail, isStemmaError, reasonOf } from '@stemma/errors';
import { openRedactor, type RedactFunction, type Redactor, type RedactorOptions } from '@stemma/redaction';
import { readRegularFile } from '@stemma/machine';
import { defined } from '@stemma/values';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { noteFile, readNoted } from './noted-files.ts';
import { secretOf } from './secret-file.ts';

/** The rules of a home, which hold for everybody who writes to it. */
const RULES = 'redact.json';
/** What labels are made with. */
const LABEL_KEY = 'redaction-labels';

/**
 * What takes secrets out of commands to this home: the rules in its `redact.json`, then the given ones. Undefined if
 * there are none. Where the home had rules, or a key for labels, that are gone, commands are refused with E_FILE_GONE, and all else
 * goes on.
 *
 * @param given a file of rules (JSON, or a module that has a function or rules as its default export), or rules.
 * @param options.isReadOnly nothing can be noted in the directory
 * @throws E_REDACTION_INVALID, E_IO
 */
export const loadRedaction = async (
  directory: string,
  given: string | RedactorOptions | undefined,
  { isReadOnly = false }: { readonly isReadOnly?: boolean } = {},
): Promise<Redactor | undefined> => {
  try {
    return await loadRules(directory, given, isReadOnly);
  } catch (error) {
    // Who can only read needs no rules, and cannot make the key of their labels.
    if (isStemmaError(error, 'E_FILE_GONE') || (isReadOnly && isStemmaError(error, 'E_IO')))
      return refusing(error);
    throw error;
  }
};

const loadRules = async (
  directory: string,
  given: string | RedactorOptions | undefined,
  isReadOnly: boolean,
): Promise<Redactor | undefined> => {
  const own = await readNoted(directory, RULES, () => rulesIn(join(directory, RULES), true));
  if (own !== undefined && !isReadOnly) noteFile(directory, RULES, '');
  const more = typeof given === 'string' ? await rulesIn(resolve(given), false) : given;
  const redactors: Redactor[] = [];
  for (const rules of [own, more])
    if (rules !== undefined)
      redactors.push(
        openRedactor(
          rules.labels === true && rules.labelKey === undefined
            ? { ...rules, labelKey: await secretOf(directory, LABEL_KEY) }
            : rules,
        ),
      );
  const [first, second] = redactors;
  return first === undefined || second === undefined ? first : bothOf(first, second);
};

/** Takes nothing, and says why. */
const refusing = (error: Error): Redactor => {
  const refuse = (): never => {
    throw error;
  };
  return {
    command: async () => refuse(),
    nodes: async () => refuse(),
    text: refuse,
    body: refuse,
    value: refuse,
    coversTexts: false,
  };
};

const bothOf = (first: Redactor, second: Redactor): Redactor => ({
  command: async (command) => second.command(await first.command(command)),
  nodes: async (nodes) => {
    const once = await first.nodes(nodes);
    const twice = await second.nodes(once.nodes);
    return { nodes: twice.nodes, redactions: [...once.redactions, ...twice.redactions] };
  },
  text: (text) => second.text(first.text(text)),
  body: (text) => {
    const once = first.body(text);
    return once === null ? null : second.body(once);
  },
  value: (value) => second.value(first.value(value)),
  coversTexts: first.coversTexts && second.coversTexts,
});

const rulesIn = async (file: string, optional: boolean): Promise<RedactorOptions | undefined> => {
  if (!file.endsWith('.json')) return rulesOfModule(file);
  let text: string;
  try {
    text = readRegularFile(file).toString();
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (optional && missing) return undefined;
    throw fail('E_IO', `the rules of redaction in ${file} cannot be read: ${reasonOf(error)}`);
  }
  let rules: unknown;
  try {
    rules = JSON.parse(text);
  } catch {
    throw fail('E_REDACTION_INVALID', `${file} is not JSON`);
  }
  if (typeof rules !== 'object' || rules === null || Array.isArray(rules))
    throw fail('E_REDACTION_INVALID', `${file} is not an object of rules`);
  const { function: named, ...config } = rules as { readonly function?: unknown };
  if (named === undefined) return config;
  if (typeof named !== 'string') throw fail('E_REDACTION_INVALID', `${file}: function names a module`);
  const { function: own } = await rulesOfModule(resolve(dirname(file), named));
  return { ...config, ...defined({ function: own }) };
};

/** @throws E_REDACTION_INVALID; what the module says while it loads is not repeated */
const rulesOfModule = async (file: string): Promise<RedactorOptions> => {
  try {
    const { default: exported } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
    if (typeof exported === 'function') return { function: exported as RedactFunction };
    if (typeof exported === 'object' && exported !== null) return exported;
  } catch (error) {
    if (isStemmaError(error)) throw error;
    throw fail('E_REDACTION_INVALID', `${file} cannot be loaded as a module`);
  }
  throw fail('E_REDACTION_INVALID', `the default export of ${file} is neither a function nor rules`);
};
