import { fail } from '@stemma/errors';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ACTOR_OPTIONS } from '../actor.ts';
import type { CommandSpec, TopCommand } from '../command.ts';
import { runPlanned } from '../experiment/run-planned.ts';
import { MAX_STDIN, readHashedJson, required, text } from '../options.ts';

const exportCommand: CommandSpec = {
  name: 'export',
  summary:
    'write a branch as an experiment: its commands with actors, times, ids and the hashes they lead to',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['[ref]', 'the last position: @c12 @s57 @name:NAME (default: the tip)'],
  ],
  options: [['-o, --output <file>', 'the output file (default: stdout)']],
  run: async ({ findBranch: find, output, signal }, [name, ref], options) => {
    const { home, branchRef } = await find(name);
    const pieces = home.operations.experiments.export(
      await home.position(branchRef, ref as string | undefined),
    );
    const file = text(options, 'output');
    if (file === undefined) for await (const piece of pieces) await output.write(piece);
    else {
      await pipeline(Readable.from(pieces), createWriteStream(file, { mode: 0o600 }), { signal });
      output.say(`wrote ${file}`);
    }
    return undefined;
  },
};

const run: CommandSpec = {
  name: 'run',
  summary:
    'run a plan with arms, or go on with it; or run an exported branch in a new history and compare its hashes (exit 5 at the first command that differs)',
  arguments: [['<file>', 'a plan or an exported experiment; - reads stdin']],
  options: [
    ['--name <name>', 'of an exported experiment: the name of the new history (default: none)'],
    ['--at-once <count>', 'of a plan: the runs that are on their way at the same time (default: 4)'],
    ...ACTOR_OPTIONS.filter(([syntax]) => syntax.startsWith('--actor')),
  ],
  run: async (context, [file], options) => {
    const source = await readHashedJson(context, required(file), MAX_STDIN, 'the experiment');
    const { isPlan } = await import('@stemma/experiments');
    if (isPlan(source.value)) return runPlanned(context, source.value, options);
    const home = await context.home({ create: true });
    const progress = context.progress('commands');
    const { signal } = context;
    const name = text(options, 'name') ?? null;
    try {
      const done = await home.operations.experiments.run(source, {
        name,
        signal,
        onProgress: progress.count,
      });
      await context.output.result(
        done,
        () =>
          `${done.branch}: ${done.commands} commands${done.repeated > 0 ? ` (${done.repeated} recorded before)` : ''}, ${done.snapshots} snapshots with the recorded hashes\ntree ${done.tree}\nthread ${done.thread}\n`,
      );
    } finally {
      progress.end();
    }
    return undefined;
  },
};

export const experiment: TopCommand = {
  name: 'experiment',
  summary:
    'run an experiment with arms that a plan decides, export a branch as a reproducible experiment, or run one',
  group: 'Change a context',
  place: 10,
  example: 'stemma experiment export mine @c7 > experiment.json',
  arguments: [],
  options: [],
  subcommands: [exportCommand, run],
  run: () => {
    throw fail('E_USAGE', 'the subcommand is missing: give export or run');
  },
};
