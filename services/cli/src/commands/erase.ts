import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { TopCommand } from '../command.ts';
import { confirmed } from '../confirm.ts';
import { text } from '../options.ts';
import { printable } from '../output.ts';
import { shellQuoted } from '../shell-quoted.ts';
import { titleOf } from '../titles.ts';

/** True if calls of a proxy wait, as a process that was killed has left them. */
const hasWaitingCalls = (directory: string): boolean => {
  const folder = join(directory, 'calls');
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.calls'));
};

/** About whom the histories are, as far as somebody said. */
const subjectsOf = async (
  home: Pick<Home, 'privacy'>,
  histories: readonly string[],
): Promise<readonly string[]> => {
  const said = await Promise.all(histories.map((history) => home.privacy.erasableAs(history)));
  return [...new Set(said.flatMap((one) => one?.subject ?? []))];
};

export const erase: TopCommand = {
  name: 'erase',
  summary: 'destroy the key of an erasable history: nothing of it can be read again',
  group: 'Export, back up, erase',
  place: 5,
  example: 'stemma erase ada',
  arguments: [['[history]', 'an erasable history, by id or name']],
  options: [
    ['--subject <name>', 'all erasable histories about somebody, in place of one'],
    ['--yes', 'no confirmation prompt'],
    ...ACTOR_OPTIONS,
  ],
  run: async (context, [name], options) => {
    const { home: open, output } = context;
    const subject = text(options, 'subject');
    if ((name === undefined) === (subject === undefined))
      throw fail('E_USAGE', 'name either a history or a subject with --subject');
    const home = await open();
    const histories =
      subject === undefined
        ? [(await home.find(name as string)).history]
        : await home.privacy.erasable(subject);
    if (histories.length === 0)
      throw fail('E_HISTORY_NOT_FOUND', 'no erasable history is about this subject', {});
    const subjects = await subjectsOf(home, histories);
    const titles: string[] = [];
    for (const history of histories) titles.push(printable(await titleOf(home, history)));
    output.say(`${titles.join(', ')}: what is erased can never be read again, by nobody.`);
    if (options['yes'] !== true && !(await confirmed(context, 'Erase?')))
      throw fail('E_CANCELLED', 'nothing is erased: the answer was not yes');
    const by = { actor: await actorOf(context, options) };
    const notes = await notesOf(context, options);
    for (const history of histories)
      await home.submit({ id: randomUUID(), history, branchId: 0, by, notes, steps: [{ op: 'erase' }] });
    for (const about of subjects) {
      const left = (await home.privacy.erasable(about)).length;
      if (left > 0)
        output.say(
          `${left} more erasable ${left === 1 ? 'history is' : 'histories are'} about ${JSON.stringify(about)}: stemma erase --subject ${shellQuoted(about)}`,
        );
    }
    if (hasWaitingCalls(home.directory))
      output.say('calls that wait to be recorded may hold parts of it: `stemma up` records or refuses them');
    await output.result({ erased: histories }, () => titles.map((title) => `${title} is erased\n`).join(''));
    return undefined;
  },
};
