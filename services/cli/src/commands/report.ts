import { fail } from '@stemma/errors';
import { writeFile } from 'node:fs/promises';
import { askApart } from '../analyse/ask-apart.ts';
import { chanceIn, PERMUTATIONS } from '../analyse/chance.ts';
import type { TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { shellQuoted } from '../shell-quoted.ts';
import { armNames, readArms } from '../verdict/read-arms.ts';

export const report: TopCommand = {
  name: 'report',
  summary:
    'write the report of an experiment with two branches as one HTML file: figures, map, attractors, tests, interventions',
  group: 'Ask why',
  place: 14,
  example: 'stemma report sea --branches main,probe -o report.html',
  arguments: [['<history>', 'a history, by id or name']],
  options: [
    ['--branches <a,b>', 'the two branches, by name or id'],
    ['-o, --output <file>', 'the file of the report (default: report.html)'],
    ['--runs <branches...>', 'branches that ran like A, for the verdict'],
    ['--runs-b <branches...>', 'branches that ran like B'],
    ['--permutations <number>', 'the random divisions of the verdict (default: 1999)'],
    ['--seed <number>', 'the seed of the random numbers (default: 0)'],
  ],
  run: async (context, [name], options) => {
    const history = required(name);
    const [a = '', b = '', ...more] = (text(options, 'branches') ?? '').split(',').map((each) => each.trim());
    if (a === '' || b === '' || more.length > 0) throw fail('E_USAGE', '--branches takes two branches: A,B');
    const file = text(options, 'output') ?? 'report.html';
    const { permutations, seed } = chanceIn(options);
    const named = armNames(a, b, options);
    const arms = await readArms(context, history, named);
    const rest = [
      ...(named.a.length === 1 ? [] : ['--runs', ...named.a.slice(1)]),
      ...(named.b.length === 1 ? [] : ['--runs-b', ...named.b.slice(1)]),
      ...(permutations === PERMUTATIONS ? [] : ['--permutations', String(permutations)]),
      ...(seed === 0 ? [] : ['--seed', String(seed)]),
    ];
    const { experimentReport } = await import('@stemma/experiments');
    const data = await experimentReport(
      await context.home(),
      {
        names: { history, a, b },
        arms,
        command: ['stemma', 'report', history, '--branches', `${a},${b}`, '-o', file, ...rest]
          .map(quoted)
          .join(' '),
      },
      {
        verdict: (ofA, ofB) =>
          askApart({ kind: 'verdict', a: ofA, b: ofB, options: { permutations, seed } }, context.signal),
        layout: (vectors) => askApart({ kind: 'layout', vectors, seed }, context.signal),
      },
    );
    const { experimentPage } = await import('@stemma/reports');
    await writeFile(file, experimentPage(data), { mode: 0o600 });
    context.output.say(`wrote ${file}`);
    await context.output.result({ file, verdict: data.verdict.verdict }, () => `${data.verdict.verdict}\n`);
    return undefined;
  },
};

/** An argument as a shell takes it. */
const quoted = (argument: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument) ? argument : shellQuoted(argument);
