import { DOCUMENT_KINDS, type DocumentKind, type SearchHit } from '@stemma/search';
import { fail } from '@stemma/errors';
import { asTyped } from '../as-typed.ts';
import type { TopCommand } from '../command.ts';
import { pastTime, text, whole } from '../options.ts';
import { oneLine, printable } from '../output.ts';
import { time } from '../time.ts';

const TIMES = '2026-11-20, 2026-11-20T10:00:00Z, or 90m, 24h, 7d ago';

export const grep: TopCommand = {
  name: 'grep',
  summary: 'find texts in all histories: contents at any time, names, notes, tools, models, errors',
  group: 'Ask why',
  place: 1,
  example: 'stemma grep \'refund "travel insurance" -cancel*\'',
  arguments: [
    [
      '<words...>',
      'words that must all be there; in one argument also: "a phrase", begin* of a word, -not; filters as of `stemma histories`: tool:refund failed:true since:7d',
    ],
  ],
  options: [
    ['--in <history>', 'only this history; of a branch, what leads to it'],
    ['--kind <kind>', `only ${DOCUMENT_KINDS.join(', ')}`],
    ['--role <role>', 'only contents of this role'],
    ['--since <time>', `only what was recorded since: ${TIMES}`],
    ['--until <time>', 'only what was recorded until then'],
    ['--limit <count>', 'the most to list (default: 20)'],
    ['--skip <count>', 'the number to skip first (default: 0)'],
  ],
  run: async ({ home, findBranch, output }, [words], options) => {
    const within = text(options, 'in');
    const opened = await home();
    const { searchWithFilters } = await import('@stemma/answers');
    const asked = await searchWithFilters(opened, [words ?? []].flat().map(asTyped).join(' '));
    const answer = await opened.queries.search.find({
      ...asked,
      within:
        within === undefined ? undefined : { name: within, branchRef: (await findBranch(within)).branchRef },
      kind: kindOf(text(options, 'kind')),
      role: text(options, 'role'),
      since: pastTime(options, 'since') ?? asked.since,
      until: pastTime(options, 'until') ?? asked.until,
      limit: whole(options, 'limit', { least: 1 }),
      skip: whole(options, 'skip', { least: 0 }),
    });
    const { hits, total, more, ranked } = answer;
    if (more) output.say(`more than ${total} places have that: the newest come first`);
    else if (hits.length < total)
      output.say(
        `${hits.length} of ${total} places${ranked ? '' : ', the newest first'}: --limit or --skip for more`,
      );
    await output.result(answer, () =>
      hits.length === 0
        ? 'nothing found\n'
        : hits.map((hit) => `${linesOf(hit, output.width).join('\n')}\n`).join('\n'),
    );
    return hits.length === 0 && !more ? 1 : 0;
  },
};

const kindOf = (given: string | undefined): DocumentKind | undefined => {
  const found = DOCUMENT_KINDS.find((kind) => kind === given);
  if (given !== undefined && found === undefined)
    throw fail('E_USAGE', `--kind is one of ${DOCUMENT_KINDS.join(', ')}, not ${JSON.stringify(given)}`);
  return found;
};

const linesOf = (hit: SearchHit, width: number): readonly string[] => {
  const { name, history, branch, label, call, kind, node, role, at, abandoned, excerpt } = hit;
  const title = name ?? history;
  // Of the first branch it is `:0` once a rollback has passed on its name.
  const address = branch.includes(':') ? `${title}:${branch.split(':').at(-1) ?? ''}` : title;
  const what = node === null ? kind : `${role ?? kind} ${node}`;
  return [
    printable(`${address} ${call ?? label}  ${what}  ${time(at)}${abandoned ? '  abandoned' : ''}`),
    `  ${oneLine(printable(excerpt.text), width - 2)}`,
  ];
};
