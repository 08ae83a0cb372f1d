import { fail } from '@stemma/errors';
import { ACTOR_OPTIONS } from '../actor.ts';
import { inBundle, isBundle } from '../bundle/in-bundle.ts';
import type { Context, TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { LEARN_OPTION, learnMasks, recordsMasks } from '../rerun/learn-masks.ts';
import { LIVE_OPTIONS } from '../rerun/live-settings.ts';
import { OFTEN_OPTIONS, oftenAsked } from '../rerun/often/often-options.ts';
import { rerunOften } from '../rerun/often/rerun-often.ts';
import { recordOnce, runOnce } from '../rerun/one-rerun.ts';
import { prepareRerun, type AskedRerun, type PreparedRerun } from '../rerun/prepare-rerun.ts';
import { previewOf, previewText } from '../rerun/preview-rerun.ts';
import { newRerunId } from '../rerun/rerun-id.ts';
import { JUDGING_OPTIONS } from '../rerun/rerun-options.ts';
import { reportFile, REPORT_OPTION } from '../rerun/report-file.ts';
import { openRerunServer, type RerunServer } from '../rerun/rerun-server.ts';
import { showRerun } from '../rerun/show-rerun.ts';
import { WORKSPACE_OPTION } from '../rerun/workspace-copy.ts';
import { WHAT_IFS } from '../rerun/what-if/all.ts';

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
    ...OFTEN_OPTIONS,
    [
      '--other <what>',
      'what becomes of requests that are no calls of models: block or pass (default: block)',
    ],
    REPORT_OPTION,
    WORKSPACE_OPTION,
    ['--dry-run', 'say what would run, what answers it and what that would cost, and run nothing'],
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
    const asksLive =
      text(options, 'models') !== undefined ||
      WHAT_IFS.some((kind) => text(options, kind.name) !== undefined);
    if (asksLive || text(options, 'onDifference') === 'live')
      throw fail('E_USAGE', `${name} is a file, and takes no calls: those of a provider need a home`);
    return inBundle(context, name, (inside, { run, isBranch }) =>
      runAnew(inside, { name, words, isBranch, wanted: text(options, 'run') ?? run ?? undefined }, options),
    );
  },
};

type Options = Readonly<Record<string, unknown>>;

const runAnew = async (context: Context, asked: AskedRerun, options: Options): Promise<number> => {
  const often = oftenAsked(options);
  const file = reportFile(options);
  const isAllLive = often !== null && often.models.length > 0;
  const prepared = await prepareRerun(context, asked, options, isAllLive);
  if (options['dryRun'] === true) {
    const preview = previewOf(prepared, often);
    await context.output.result(preview, () => previewText(preview));
    return 0;
  }
  const server = await openRerunServer(context, options);
  try {
    return often === null
      ? await rerunOnce(context, server, prepared, options, file)
      : await rerunOften(context, server, prepared, often, options);
  } finally {
    await server.close();
  }
};

/** Runs the command once, or twice to learn what differs between two runs. @returns the exit code */
const rerunOnce = async (
  context: Context,
  server: RerunServer,
  prepared: PreparedRerun,
  options: Options,
  file: string | undefined,
): Promise<number> => {
  const { home, branchRef, name, masks, settings, toStart } = prepared;
  const run = async (forkName?: string) => {
    const id = await newRerunId();
    const { json, isForAgent } = context.output;
    const output = isForAgent ? 'apart' : json ? 'stderr' : 'own';
    return runOnce(context, server, prepared, { id, forkName: forkName ?? id, settings, output });
  };
  const ran = await run(text(options, 'name'));
  const waiting = await server.drained();
  const learned =
    options['learn'] === true
      ? await learnMasks(
          context,
          home,
          branchRef,
          { first: ran.observed, second: (await run()).observed, masks },
          options,
        )
      : null;
  await showRerun(context, {
    ...ran,
    history: name,
    of: prepared.run.run,
    command: toStart.words,
    file,
    learned,
    waiting,
  });
  await recordOnce(context, prepared, ran, null);
  return ran.report.exit;
};
