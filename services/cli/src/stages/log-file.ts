import { fail } from '@stemma/errors';
import {
  openEventLogReader,
  printPlain,
  profileNamed,
  readConfig,
  readExactJson,
  type ExactJson,
  type Profile,
  type StagesConfig,
  type StreamEventLog,
} from '@stemma/stages';
import type { Context } from '../command.ts';
import { openInput } from '../input.ts';
import { readText, text } from '../options.ts';
import { printable } from '../output.ts';

/** One line is held in memory as a text, so it has a limit: UTF-16 units. */
const MAX_LINE = 256 * 1024 * 1024;

/** A configuration is small, a snapshot with its nodes not very large. */
const MAX_CONFIG = 64 * 1024 * 1024;

/** What every command about an event log takes. */
export const LOG_OPTIONS: readonly (readonly [string, string])[] = [
  [
    '--profile <name>',
    'the profile: breadboard-0.1, which equals the original engine, or stemma-1 (default: breadboard-0.1)',
  ],
  [
    '--config <file>',
    'a JSON file: {selection?, header?, frozen?, collapse?, prompt_summary?} (default: the defaults of the profile)',
  ],
];

type Values = Readonly<Record<string, unknown>>;

/** The profile that was named, else the engine's. @throws E_USAGE */
export const profileOf = (options: Values): Profile =>
  profileNamed(text(options, 'profile') ?? 'breadboard-0.1');

/** The configuration of `--config`, else the defaults. @throws E_STAGES_CONFIG and what else is wrong with the file. */
export const configOf = async (
  context: Context,
  profile: Profile,
  options: Values,
): Promise<StagesConfig> => {
  const file = text(options, 'config');
  return readConfig(profile, file === undefined ? null : await readJsonFile(context, file));
};

/** A JSON file of moderate size, exactly. */
export const readJsonFile = async (context: Context, file: string): Promise<ExactJson> =>
  readExactJson(await readText(context, file, MAX_CONFIG), file);

/**
 * Reads an event log from a file, `-` being stdin, a line at a time; reports the lines that it skips.
 *
 * @throws E_INPUT_ENCODING, E_INPUT_TOO_LARGE for a line, E_CANCELLED.
 */
export const readLogFile = async (
  context: Context,
  file: string,
  profile: Profile,
  keepPayloads: boolean,
): Promise<StreamEventLog> => {
  const reader = openEventLogReader(profile, { keepPayloads });
  const progress = context.progress('bytes');
  const lines = openLines(file, reader.add);
  for await (const chunk of openInput(file, context).read()) {
    progress.count(chunk.length);
    lines.add(chunk);
  }
  lines.end();
  progress.end();
  const log = reader.log();
  for (const { reason } of log.skipped.slice(0, MAX_REPORTED))
    context.output.say(`skipped: ${printable(reason)}`);
  if (log.nodes.length === 0 && log.skipped.length > 0)
    context.output.say(`no line of ${printable(file)} is an event: check that it is an event log`);
  if (log.skipped.length > MAX_REPORTED)
    context.output.say(`… and ${log.skipped.length - MAX_REPORTED} more lines were skipped`);
  return log;
};

const MAX_REPORTED = 20;

/** Cuts bytes into lines at each line feed, as UTF-8 with a byte order mark kept. */
const openLines = (
  name: string,
  add: (line: string) => void,
): { readonly add: (bytes: Uint8Array) => void; readonly end: () => void } => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 1;
  let open: string[] = [];
  let length = 0;
  const close = (): void => {
    add(open.join(''));
    open = [];
    length = 0;
    number += 1;
  };
  const take = (piece: string): void => {
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      open.push(piece.slice(start, end));
      close();
      start = end + 1;
    }
    if (start < piece.length) open.push(piece.slice(start));
    length += piece.length - start;
    if (length > MAX_LINE)
      throw fail('E_INPUT_TOO_LARGE', `line ${number} of ${name} has more than ${MAX_LINE} characters`, {
        line: number,
      });
  };
  const decode = (bytes: Uint8Array | null): string => {
    try {
      return bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      throw fail('E_INPUT_ENCODING', `${name} is not UTF-8 text, in or after line ${number}`, {
        line: number,
      });
    }
  };
  return {
    add: (bytes) => take(decode(bytes)),
    end: () => {
      take(decode(null));
      if (open.length > 0) close();
    },
  };
};

/** Prints a result: with `--json` its canonical JSON, in which no number loses anything, else what `human` says. */
export const giveExact = ({ output }: Context, value: ExactJson, human: () => string): Promise<void> =>
  output.write(output.json ? printPlain(value) + '\n' : human());
