import { ERRORS, fail, isStemmaError, redactedError } from '@stemma/errors';
import type { ObservationKind } from '@stemma/events';
import type { BranchRef, Position } from '@stemma/history-store';
import { openHome, type Home, type HomeOptions } from '@stemma/home';
import { damageSentences } from '@stemma/operations';
import { defined } from '@stemma/values';
import { Option, type Command as Commander } from 'commander';
import { resolve } from 'node:path';
import { namedActor } from './actor.ts';
import { openAgentOutput } from './agent/agent-output.ts';
import { DEFAULT_BUDGET, LEAST_BUDGET } from './agent/agent-page.ts';
import { nextOf, toolOf, type AgentTool } from './agent/tools.ts';
import { required, text, whole } from './options.ts';
import { headingOf, type HelpGroup } from './help.ts';
import { showInPager } from './pager.ts';
import { withPositions } from './references.ts';
import { explainError } from './explain-error.ts';
import { optionsBeforeCommand } from './options-before-command.ts';
import { openOutput, printable, reportError, type Output } from './output.ts';
import { openProgress, type ProgressDisplay } from './progress.ts';
import { recordObservations, type ObservedPosition } from './record-observations.ts';
import { refuseOwnFiles } from './refuse-own-files.ts';
import type { Surroundings } from './surroundings.ts';
import { titleOf, withTitles } from './titles.ts';

/** What a running command is given. */
export type Context = {
  readonly output: Output;
  readonly directory: string;
  readonly stdin: Surroundings['stdin'];
  readonly stderr: Surroundings['stderr'];
  readonly env: Surroundings['env'];
  /** Aborts with E_CANCELLED on Ctrl-C or SIGTERM, and when nobody reads stdout any more. */
  readonly signal: AbortSignal;
  /** A display of what is done, on stderr; counting throws once the signal has aborted. */
  readonly progress: (unit: string) => ProgressDisplay;
  /** Shows a long text page by page; false if it was not shown. */
  readonly pager: (text: string) => Promise<boolean>;
  /** Opens the home; it is closed when the command ends. `create` for commands that write, `observe` for what counts. */
  readonly home: (options?: Pick<HomeOptions, 'create' | 'observe'>) => Promise<Home>;
  /** The same home, closed and opened again: what it held in memory is free, and what it mapped. Nobody may be using it. */
  readonly reopenHome: () => Promise<Home>;
  /** Notes that a position was looked at: recorded at the end where an actor is named and the history wants it. */
  readonly observe: (branchRef: BranchRef, kind: ObservationKind, what: string, position: Position) => void;
  /** The home, and the history or branch in it that an argument names; says so if it is closed. @throws E_HISTORY_NOT_FOUND */
  readonly findBranch: (
    name: string | readonly string[] | undefined,
  ) => Promise<{ readonly home: Home; readonly branchRef: BranchRef }>;
};

type Values = Readonly<Record<string, unknown>>;

/** A command as data: commander's syntax for arguments and options, and what runs. */
export type CommandSpec = {
  readonly name: string;
  readonly summary: string;
  /** As commander writes them: `['<history>', '[ref]', '<files...>']`, each with a description. */
  readonly arguments: readonly (readonly [syntax: string, description: string])[];
  readonly options: readonly (readonly [syntax: string, description: string])[];
  /** Commands of its own, called by their name behind this one's. */
  readonly subcommands?: readonly CommandSpec[];
  /** True if the result itself names all damage: nothing is said about it on stderr. */
  readonly reportsDamage?: true;
  /** True if its argument is a command line: what stands behind the first word of it are that one's own options, also without `--`. */
  readonly runsCommand?: true;
  /** True if, with these options, it goes on until it is told to end. After SIGTERM that is its success. */
  readonly serves?: (options: Values) => boolean;
  /** Gives the exit code where it is not 0. */
  run(
    context: Context,
    args: readonly (string | readonly string[] | undefined)[],
    options: Values,
  ): Promise<number | undefined>;
};

/** A command of the program itself: how its help lists and shows it. */
export type TopCommand = CommandSpec & {
  readonly group: HelpGroup;
  /** Where it stands in its group. Default: behind those that have a place, in the order of the catalogue. */
  readonly place?: number;
  /** One line that people may try. */
  readonly example: string;
};

/** Adds a command to the program. The exit code goes to `exit`. */
export const register = (
  program: Commander,
  spec: TopCommand,
  around: Surroundings,
  exit: (code: number) => void,
): void => {
  const { group, example } = spec;
  add(program, spec, { around, exit, example, inherited: () => program.opts() })
    .helpGroup(headingOf(group))
    .addHelpText('after', `\nExample:\n  ${example}\n`);
};

type Registered = {
  readonly around: Surroundings;
  readonly exit: (code: number) => void;
  /** Shown where it is used in a wrong way; for a command of a command that one's. */
  readonly example: string;
  readonly inherited: () => Values;
};

const add = (program: Commander, spec: CommandSpec, registered: Registered): Commander => {
  const { around, exit, example, inherited } = registered;
  const command = program.command(spec.name).description(spec.summary);
  const tool = program.parent === null ? toolOf(spec.name) : undefined;
  if (spec.runsCommand === true) {
    command.passThroughOptions();
    const parse = command.parseOptions.bind(command);
    command.parseOptions = (words) => parse(optionsBeforeCommand(command.options, words));
  }
  for (const [syntax, description] of spec.arguments) command.argument(syntax, description);
  for (const [syntax, description] of spec.options) command.addOption(new Option(syntax, description));
  command
    .option('--home <directory>', 'the home (default: STEMMA_HOME, then ./.stemma)')
    .option('--json', 'one JSON document on stdout')
    .option('--redact <file>', 'rules of redaction beside those of the home: JSON, or a module');
  if (tool !== undefined) addAgentOptions(command);
  command.exitOverride().action(async (...received: unknown[]) => {
    const syntaxes = spec.arguments.map(([syntax]) => syntax);
    const own = received[spec.arguments.length] as Values;
    const options = { ...inherited(), ...withPositionOptions(command.options, own) };
    const args = withPositions(syntaxes, received.slice(0, spec.arguments.length)) as (
      string | readonly string[] | undefined
    )[];
    exit(await runCommand(spec, around, args, options, { example, tool }));
  });
  for (const each of spec.subcommands ?? [])
    add(command, each, { ...registered, inherited: () => ({ ...inherited(), ...command.opts() }) });
  return command;
};

/** What the commands take that language models use. Where `--output` names a file, a file `agent` is `./agent`. */
const addAgentOptions = (command: Commander): void => {
  if (!command.options.some(({ long }) => long === '--output'))
    command.option('--output <form>', 'agent: plain text for a language model, a page at a time');
  command
    .option(
      '--budget <tokens>',
      `with --output agent: the most tokens of a page (default: ${DEFAULT_BUDGET})`,
    )
    .option('--cursor <cursor>', 'with --output agent: what the page before ends with');
};

/** Options that are positions, as Stemma writes them. */
const withPositionOptions = (known: readonly Option[], values: Values): Values => {
  const syntaxes = new Map(known.map((option) => [option.attributeName(), option.flags]));
  const names = Object.keys(values);
  const read = withPositions(
    names.map((name) => syntaxes.get(name) ?? ''),
    Object.values(values),
  );
  return Object.fromEntries(names.map((name, i) => [name, read[i]]));
};

const runCommand = async (
  spec: CommandSpec,
  around: Surroundings,
  args: readonly (string | readonly string[] | undefined)[],
  given: Values,
  { example, tool }: { readonly example: string; readonly tool: AgentTool | undefined },
): Promise<number> => {
  const opened = outputOf(around, given, tool);
  if (!('output' in opened)) return reportError(opened.refused, openOutput(around, false), example);
  const { output, options } = opened;
  const stop = cancellation(around.signal, output);
  let home: Home | undefined;
  let openedWith: Pick<HomeOptions, 'create' | 'observe'> | undefined;
  let found: BranchRef | undefined;
  let display: ProgressDisplay | undefined;
  const directory = resolve(
    typeof options['home'] === 'string' ? options['home'] : around.env['STEMMA_HOME'] || '.stemma',
  );
  const observations: ObservedPosition[] = [];
  const context: Context = {
    output,
    directory,
    stdin: around.stdin,
    stderr: around.stderr,
    env: around.env,
    signal: stop.signal,
    pager: async (text) => !output.isForAgent && (await showInPager(text, around)),
    progress: (unit) => {
      display?.end();
      return (display = openProgress(unit, around.stderr, stop.signal));
    },
    observe: (spec, kind, what, position) =>
      void observations.push({ branchRef: spec, kind, what, position }),
    findBranch: async (name) => {
      const answer = await findBranchRef(context, required(name));
      found ??= answer.branchRef;
      return answer;
    },
    home: async (homeOptions = {}) => {
      openedWith ??= homeOptions;
      return (home ??= await (around.openHome ?? openHome)({
        directory,
        say: output.say,
        ...openedWith,
        ...addressesOf(around.env),
        ...redactOf(options, around.env),
      }));
    },
    reopenHome: async () => {
      const before = home;
      home = undefined;
      await before?.close();
      return context.home();
    },
  };
  try {
    stop.signal.throwIfAborted();
    refuseOwnFiles(directory, options);
    const code = (await spec.run(context, args, options)) ?? 0;
    await opened.finish(spec, args);
    if (home !== undefined) await recordObservations(home, observations, namedActor(context, options));
    return code === 0 && spec.serves !== undefined && around.signal.aborted
      ? exitWhenTold(spec, around.signal, options)
      : code;
  } catch (error) {
    // A bar that is left open keeps the process alive, and the cursor hidden.
    display?.end();
    // A reader that goes away (`stemma log H | head`) ends the command, it is not a failure.
    if (output.unread.aborted) return 0;
    // A service may be told to end while it begins.
    if (around.signal.aborted && exitWhenTold(spec, around.signal, options) === 0) return 0;
    const redactText = (text: string): string => home?.privacy.redactText(text) ?? text;
    // What a stream or timer throws when it is aborted says less than why.
    const known = stop.signal.aborted && !isStemmaError(error) ? (stop.signal.reason as unknown) : error;
    const explained =
      home !== undefined && isStemmaError(known) ? await explainError(home, known, found) : known;
    return reportError(redactedError(explained, redactText), output, example);
  } finally {
    stop.end();
    if (home !== undefined && spec.reportsDamage !== true) await sayDamage(home, output);
    await home?.close();
  }
};

type OpenedOutput = {
  readonly output: Output;
  /** What the command is given: without what only says how it prints. */
  readonly options: Values;
  readonly finish: (spec: CommandSpec, args: readonly unknown[]) => Promise<void>;
};

/** Where a command prints; `refused`: what is wrong with the options that say how. */
const outputOf = (
  around: Surroundings,
  given: Values,
  tool: AgentTool | undefined,
): OpenedOutput | { readonly refused: unknown } => {
  const { budget, cursor, ...options } = given;
  const isForAgent = tool !== undefined && given['output'] === 'agent';
  const ownsOutput = tool?.command === 'interventions';
  if (!isForAgent) {
    const isUsed = tool !== undefined && (budget !== undefined || cursor !== undefined);
    if (isUsed || (tool !== undefined && !ownsOutput && given['output'] !== undefined))
      return { refused: fail('E_USAGE', '--output is agent; --budget and --cursor are given with it') };
    const json = given['json'] === true;
    return { output: openOutput(around, json), options: given, finish: async () => undefined };
  }
  if (given['json'] === true) return { refused: fail('E_USAGE', 'give either --json or --output agent') };
  try {
    const wanted = {
      budget: whole(given, 'budget', { least: LEAST_BUDGET }) ?? DEFAULT_BUDGET,
      cursor: text(given, 'cursor'),
    };
    const output = openAgentOutput(around, wanted);
    const { output: _form, ...rest } = options;
    return {
      output,
      options: rest,
      finish: (spec, args) => output.finish(nextOf(tool, historyIn(spec, args))),
    };
  } catch (error) {
    return { refused: error };
  }
};

/** The history that a command was asked about. */
const historyIn = ({ arguments: [first] }: CommandSpec, [given]: readonly unknown[]): string | undefined =>
  first !== undefined && /^[<[]history/.test(first[0]) && typeof given === 'string'
    ? printable(given)
    : undefined;

/** A service manager takes what follows its SIGTERM for a failure unless it is 0; whoever presses Ctrl-C interrupts. */
const exitWhenTold = (spec: CommandSpec, told: AbortSignal, options: Values): number =>
  told.reason === 'SIGTERM' && spec.serves?.(options) === true ? 0 : ERRORS.E_CANCELLED.exit;

/** Whoever reads an answer hears of what it may lack. */
const sayDamage = async (home: Home, output: Output): Promise<void> => {
  try {
    for (const sentence of damageSentences(await home.operations.damage()))
      output.say(`warning: ${await withTitles(home, sentence)}`);
  } catch {
    // Rows that cannot be read have been reported by the command itself.
  }
};

/** Rules that are named on the command line, else in the environment. */
export const redactOf = (
  { redact }: Values,
  { STEMMA_REDACT: file = '' }: Surroundings['env'],
): { redact?: string } => defined({ redact: typeof redact === 'string' ? redact : file || undefined });

/** Where the log, the rows and the prices are, if they are not in the home. */
export const addressesOf = ({
  STEMMA_LOG: log = '',
  STEMMA_ROWS: rows = '',
  STEMMA_PRICES: prices = '',
}: Surroundings['env']): { log?: string; rows?: string; prices?: string } =>
  defined({ log: log || undefined, rows: rows || undefined, prices: prices || undefined });

/** One signal that aborts with E_CANCELLED when either of the two does. */
const cancellation = (
  asked: AbortSignal,
  { unread }: Output,
): { readonly signal: AbortSignal; readonly end: () => void } => {
  const controller = new AbortController();
  const cancel = (): void => controller.abort(fail('E_CANCELLED', 'cancelled'));
  for (const signal of [asked, unread]) {
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel);
  }
  return {
    signal: controller.signal,
    end: () => {
      for (const signal of [asked, unread]) signal.removeEventListener('abort', cancel);
    },
  };
};

const findBranchRef = async (
  { home: open, output, directory }: Context,
  name: string,
): Promise<{ home: Home; branchRef: BranchRef }> => {
  if (name.startsWith('@'))
    throw fail('E_USAGE', `${name} is a position: the history stands before it, as in «thread H ${name}»`);
  const home = await open().catch((error: unknown) => {
    if (!isStemmaError(error, 'E_HOME_NOT_FOUND')) throw error;
    throw fail(
      'E_HISTORY_NOT_FOUND',
      `there is no history ${JSON.stringify(name)}: ${directory} is not a Stemma home`,
      { name },
    );
  });
  const branchRef = await home.find(name);
  const { state, stopped } = await home.read.history(branchRef.history);
  if (state !== 'open')
    output.say(
      `${await titleOf(home, branchRef.history)} is ${state} at seq ${stopped ?? '?'}: the answer shows what comes before that frame`,
    );
  return { home, branchRef };
};
