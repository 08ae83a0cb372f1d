import { fail, isStemmaError } from '@stemma/errors';
import type { GitCommit } from '@stemma/events';
import { randomBytes } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import { inBundle, isBundle } from '../bundle/in-bundle.ts';
import type { Context, TopCommand } from '../command.ts';
import { MAX_STDIN, readText, required, text } from '../options.ts';
import { LIVE_OPTIONS, liveSettings } from '../rerun/live-settings.ts';
import { LEARN_OPTION, learnMasks, recordedMasks, recordsMasks } from '../rerun/learn-masks.ts';
import { commitOf } from '../git-commit.ts';
import { printable } from '../output.ts';
import { commandText, commitText } from '../program-runs.ts';
import { commandToRun, type CommandToRun } from '../rerun/command-to-run.ts';
import { recordRerun } from '../rerun/record-rerun.ts';
import { openForks } from '../rerun/rerun-forks.ts';
import { JUDGING_OPTIONS, judgedBy, oneOf } from '../rerun/rerun-options.ts';
import { reportFile, REPORT_OPTION } from '../rerun/report-file.ts';
import { showRerun } from '../rerun/show-rerun.ts';
import { readWhatIf, WHAT_IFS } from '../rerun/what-if/all.ts';
import { refuseUnserved, runCommand } from '../rerun/run-command.ts';

export const rerun: TopCommand = {
  name: 'rerun',
  summary:
    'run a recorded agent again, answered from the record, and show the first difference with its cause',
  group: 'Record and import',
  place: 6,
  example: 'stemma rerun mine -- python agent.py',
  arguments: [
    [
      '<history>',
      'the history whose newest run answers; of a branch (mine:what-if), only the calls on the way to its tip; or a file that stemma bundle wrote',
    ],
    [
      '[command...]',
      'the command with its arguments, after --, which runs here (default: the recorded one, in its directory)',
    ],
  ],
  options: [
    ['--run <id>', 'the recorded run that answers (default: the newest one of the history)'],
    ...JUDGING_OPTIONS,
    LEARN_OPTION,
    ...WHAT_IFS.map(({ option }) => option),
    ...LIVE_OPTIONS,
    [
      '--other <what>',
      'what becomes of requests that are no calls of models: block or pass (default: block)',
    ],
    REPORT_OPTION,
    ['--name <name>', 'what forks are named after (default: the id of the rerun)'],
    ...ACTOR_OPTIONS,
  ],
  run: async (context, [given, command], options) => {
    const words = (command ?? []) as readonly string[];
    const name = required(given);
    if (!isBundle(name)) {
      const isBranch = name.includes(':');
      return runAnew(context, { name, words, isBranch, wanted: text(options, 'run') }, options);
    }
    if (options['learn'] === true && recordsMasks(options))
      throw fail('E_USAGE', `${name} is a file, and keeps no settings: learn masks in the home`);
    // Whoever gave the file says what is in it: it starts nothing by itself.
    if ((words[0] ?? '') === '')
      throw fail('E_USAGE', `give a command after --: ${name} is a file, and runs none`);
    const asksLive = WHAT_IFS.some((kind) => text(options, kind.name) !== undefined);
    if (asksLive || text(options, 'onDifference') === 'live')
      throw fail('E_USAGE', `${name} is a file, and takes no calls: those of a provider need a home`);
    return inBundle(context, name, (inside, { run, isBranch }) =>
      runAnew(inside, { name, words, isBranch, wanted: text(options, 'run') ?? run ?? undefined }, options),
    );
  },
};

/** What is run. `isBranch`: only the calls on the way to the tip of a branch answer. `wanted`: the id of the recorded run. */
type Asked = {
  readonly name: string;
  readonly words: readonly string[];
  readonly isBranch: boolean;
  readonly wanted: string | undefined;
};

const runAnew = async (
  context: Context,
  { name, words, isBranch, wanted }: Asked,
  options: Readonly<Record<string, unknown>>,
): Promise<number> => {
  const file = reportFile(options);
  const passesOthers = oneOf(options, 'other', ['block', 'pass']) === 'pass';
  const { DEFAULT_OPTIONS } = await import('@stemma/rerun');
  const { home, branchRef } = await context.findBranch(name);
  const { chooseRun, readRecording } = await import('@stemma/reruns');
  const { RERUN } = await import('@stemma/history');
  const only = isBranch ? branchRef : null;
  const run = await readRecording(home, await chooseRun(home, branchRef, only, wanted ?? null));
  const whatIf = await readWhatIf(options, {
    ...{ home, run },
    readFile: async (file) => (await readText(context, file, MAX_STDIN)).replace(/\r?\n$/, ''),
  });
  const asked = judgedBy(options);
  const masks = [...(await recordedMasks(home, branchRef)), ...asked.masks];
  const learns = options['learn'] === true;
  if (learns && (whatIf !== null || text(options, 'onDifference') !== undefined))
    throw fail(
      'E_USAGE',
      '--learn answers every call from the recording: leave out --on-difference and questions',
    );
  const judged = {
    ...{ ...DEFAULT_OPTIONS, ...asked, masks, from: whatIf?.from ?? null },
    // Each call of both runs is seen, also those behind a difference.
    ...(learns ? { onDifference: 'serve' as const } : {}),
  };
  const settings = await liveSettings(context, home, run, judged.from, options);
  const tools = await refuseUnserved(run, judged);
  if (tools.length > 0 && judged.tools === 'real')
    context.output.say(`the tools of the command run for real: ${tools.join(', ')}`);
  const newId = (): string => `${RERUN}${randomBytes(4).toString('hex')}`;
  const id = newId();
  const isLive = judged.onDifference === 'live' || judged.from !== null;
  const isKept = !isBundle(name);
  const toStart = await commandToRun(home, run.run, words);
  const commit = await commitOf(toStart.directory, context.env);
  if (toStart.isRecorded) context.output.say(startText(toStart, commit));
  const by = {
    actor: isLive ? await actorOf(context, options) : isKept ? await actorOrNobody(context, options) : '',
    notes: isLive ? await notesOf(context, options) : (text(options, 'notes') ?? ''),
  };
  const { history } = branchRef;
  const forks = openForks(home, run, {
    ...{ history, name: text(options, 'name') ?? id, ...by, whatIf, settings },
  });
  const live = { by, whatIf, settings, placeOf: forks.placeOf };
  const toRun = {
    ...{ home, run, judged, live, passesOthers },
    command: toStart.words,
    workingDirectory: toStart.directory,
  };
  const ran = await runCommand(context, { ...toRun, id }, options);
  const observed = learns ? (await runCommand(context, { ...toRun, id: newId() }, options)).observed : null;
  const both = observed === null ? null : { first: ran.observed, second: observed, masks };
  const report = await showRerun(context, {
    ...{ ...ran, home, run, judged, id },
    forks: forks.names(),
    ...{ history: name, command: toStart.words, file },
    recordedEnd: toStart.program?.end,
    learned: both === null ? null : await learnMasks(context, home, branchRef, both, options),
  });
  if (!isKept) return report.exit;
  if (by.actor === '') {
    context.output.say('the rerun is not recorded: nobody says who ran it (--actor, STEMMA_ACTOR)');
    return report.exit;
  }
  const { startedAt, endedAt, end, summary } = ran;
  await recordRerun(home, branchRef, context.output.say, {
    ...{ rerun: id, of: run.run, by, commit, summary, report, startedAt, endedAt, end },
    command: toStart.words,
    directory: toStart.directory,
  });
  return report.exit;
};

/** Who ran it; empty if nobody says so: a rerun that goes to no provider needs nobody. */
const actorOrNobody = async (
  context: Context,
  options: Readonly<Record<string, unknown>>,
): Promise<string> => {
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
