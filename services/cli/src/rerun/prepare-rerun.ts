import { fail, isStemmaError } from '@stemma/errors';
import type { GitCommit } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { Mask, RerunOptions } from '@stemma/rerun';
import type { LiveSettings, ReadRun, WhatIf } from '@stemma/reruns';
import { basename } from 'node:path';
import { actorOf, notesOf } from '../actor.ts';
import { isBundle } from '../bundle/in-bundle.ts';
import type { Context } from '../command.ts';
import { commitOf } from '../git-commit.ts';
import { harnessOf } from '../harnesses.ts';
import { MAX_STDIN, readText, text } from '../options.ts';
import { printable } from '../output.ts';
import { commandText, commitText } from '../program-runs.ts';
import { commandToRun, type CommandToRun } from './command-to-run.ts';
import { recordedMasks } from './learn-masks.ts';
import { liveChange, liveSettings } from './live-settings.ts';
import { judgedBy, oneOf } from './rerun-options.ts';
import { refuseUnserved } from './run-command.ts';
import { wantsCopy, workspaceToCopy, type WorkspaceToCopy } from './workspace-copy.ts';
import { readWhatIf } from './what-if/all.ts';

/** What is run. `isBranch`: only the calls on the way to the tip of a branch answer. `wanted`: the id of the recorded run. */
export type AskedRerun = {
  readonly name: string;
  readonly words: readonly string[];
  readonly isBranch: boolean;
  readonly wanted: string | undefined;
};

/** All that reruns of one run have in common. */
export type PreparedRerun = {
  readonly home: Home;
  /** As the command named the history. */
  readonly name: string;
  readonly branchRef: BranchRef;
  readonly run: ReadRun;
  readonly judged: RerunOptions;
  readonly masks: readonly Mask[];
  readonly whatIf: WhatIf | null;
  readonly settings: LiveSettings | null;
  readonly toStart: CommandToRun;
  readonly commit: GitCommit | null;
  /** Who runs it, and why; an empty actor is nobody: then it is not recorded. */
  readonly by: { readonly actor: string; readonly notes: string };
  readonly passesOthers: boolean;
  /** The files of which each rerun has a copy of its own; null: it runs in the directory itself. */
  readonly workspace: WorkspaceToCopy | null;
  /** What checks what the command left behind; null: nothing does. */
  readonly check: string | null;
  /** False for a bundle: nothing is recorded in it. */
  readonly isKept: boolean;
};

type Options = Readonly<Record<string, unknown>>;

/**
 * Reads the run that answers and what is asked of it, and says what will be started. Nothing has been started when it throws.
 *
 * @param isAllLive every call goes to its provider, unless a question says from which on
 * @throws E_USAGE, E_RERUN_…
 */
export const prepareRerun = async (
  context: Context,
  { name, words, isBranch, wanted }: AskedRerun,
  options: Options,
  isAllLive: boolean,
): Promise<PreparedRerun> => {
  const passesOthers = oneOf(options, 'other', ['block', 'pass']) === 'pass';
  const { DEFAULT_OPTIONS } = await import('@stemma/rerun');
  const { home, branchRef } = await context.findBranch(name);
  const { chooseRun, readRecording } = await import('@stemma/reruns');
  const only = isBranch ? branchRef : null;
  const run = await readRecording(home, await chooseRun(home, branchRef, only, wanted ?? null));
  const whatIf = await readWhatIf(options, {
    ...{ home, run },
    readFile: async (file) => (await readText(context, file, MAX_STDIN)).replace(/\r?\n$/, ''),
  });
  const asked = judgedBy(options);
  const masks = [...(await recordedMasks(home, branchRef)), ...asked.masks];
  const learns = options['learn'] === true;
  if (learns && (whatIf !== null || isAllLive || text(options, 'onDifference') !== undefined))
    throw fail(
      'E_USAGE',
      '--learn answers every call from the recording: leave out --on-difference and questions',
    );
  const judged = {
    ...{ ...DEFAULT_OPTIONS, ...asked, masks },
    from: whatIf !== null ? [whatIf.from] : isAllLive ? beginningsOf(run) : [],
    // Each call of both runs is seen, also those behind a difference.
    ...(learns ? { onDifference: 'serve' as const } : {}),
  };
  const settings = await liveSettings(context, home, run, judged.from, liveChange(options));
  const tools = await refuseUnserved(run, judged);
  if (tools.length > 0 && judged.tools === 'real')
    context.output.say(`the tools of the command run for real: ${tools.join(', ')}`);
  const isCopied = wantsCopy(options);
  const toStart = await commandToRun(home, run.run, words, isCopied);
  const workspace = isCopied ? await workspaceToCopy(home, run.run, toStart.program) : null;
  if (workspace !== null)
    context.output.say(
      `each run has a copy of the ${workspace.files.files.length} files that the recorded one started with`,
    );
  const commit = await commitOf(toStart.directory, context.env);
  if (toStart.isRecorded) context.output.say(startText(toStart, commit));
  sayIntercepted(toStart, context);
  const isLive = judged.onDifference === 'live' || judged.from.length > 0;
  const isKept = !isBundle(name);
  const actor = isLive
    ? await actorOf(context, options)
    : isKept
      ? await actorOrNobody(context, options)
      : '';
  const notes = isLive ? await notesOf(context, options) : (text(options, 'notes') ?? '');
  return {
    ...{ home, name, branchRef, run, judged, masks, whatIf, settings, toStart, commit, passesOthers, isKept },
    workspace,
    by: { actor, notes },
    check: text(options, 'verify') ?? null,
  };
};

/**
 * A rerun gives its command addresses: says so of one that was recorded without any.
 *
 * @throws E_USAGE for a program that is known to go past them: its calls would reach its provider
 */
const sayIntercepted = ({ words, program }: CommandToRun, { env, output }: Context): void => {
  if (harnessOf(words)?.isIntercepted?.(env) === true)
    throw fail(
      'E_USAGE',
      `${basename(words[0] ?? '')} goes past every address, so its calls cannot be answered`,
    );
  // Only a command that is intercepted gets it.
  if (program?.variables.includes('DENO_CERT') === true)
    output.say(
      'the recorded calls were intercepted: a program with an address in its code now calls its provider',
    );
};

/** The labels of the first calls of all conversations that go on from no other. */
const beginningsOf = ({ recording: { conversations } }: ReadRun): readonly string[] =>
  conversations.flatMap(({ from, cycles: [first] }) =>
    from === null && first !== undefined ? [first.label] : [],
  );

/** Who ran it; empty if nobody says so: a rerun that goes to no provider needs nobody. */
const actorOrNobody = async (context: Context, options: Options): Promise<string> => {
  try {
    return await actorOf(context, options);
  } catch (error) {
    if (isStemmaError(error, 'E_ACTOR_REQUIRED')) return '';
    throw error;
  }
};

/** What is run, before it runs. */
const startText = ({ words, directory, program }: CommandToRun, commit: GitCommit | null): string => {
  const [before, now] = [program?.commit ?? null, commit];
  const other =
    before === null || now?.id === before.id
      ? ''
      : `, at commit ${now === null ? '-' : commitText(now)}, recorded at ${commitText(before)}`;
  return `runs ${commandText(words)} in ${printable(directory)}${other}`;
};
