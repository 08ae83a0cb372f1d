import { historyId, type Command, type Step } from '@stemma/history';
import { prose, seeded, whole, type Random } from '../text.ts';

type Block = Extract<Step, { op: 'insert' }>['node'];

const insert = (node: Block, parent = '^ah'): Step => ({ op: 'insert', parent, node });

const block = (role: string, kind: string, content: Block['content'], more: Block = {}): Step =>
  insert({ nodeType: 'cb', role, kind, content: content ?? null, ...more });

const tools = ['search_orders', 'read_file', 'get_reservation', 'list_flights', 'run_tests', 'fetch_page'];

const call = (random: Random, number: number): Step =>
  block(
    'assistant',
    'call',
    {
      name: tools[whole(random, tools.length)]!,
      arguments: { query: prose(random, 60 + whole(random, 140)), limit: 1 + whole(random, 50) },
    },
    { data_call_id: `call_${number}` },
  );

const result = (random: Random, number: number): Step =>
  block('tool', 'result', prose(random, 400 + whole(random, 1_100)), {
    data_call_id: `call_${number}`,
    // Long results are of use for a while only.
    ttl: random() < 0.6 ? 4 + whole(random, 8) : null,
  });

/** Pieces from a search index, shown before the turn and gone soon after. */
const retrieved = (random: Random): Step[] =>
  Array.from({ length: 1 + whole(random, 3) }, () =>
    block('user', 'text', prose(random, 500 + whole(random, 600)), {
      offset: -1,
      ttl: 1 + whole(random, 3),
      content_source: `doc-${whole(random, 5_000)}`,
    }),
  );

const opening = (random: Random, name: string): Step[] => [
  { op: 'start', name },
  insert({ nodeType: 'cb', role: 'system', kind: 'text', content: prose(random, 2_000) }, '^sys'),
  block('user', 'text', prose(random, 200 + whole(random, 500))),
  { op: 'commit' },
];

const cycle = (random: Random, number: number): Step[] => {
  const steps: Step[] = [];
  if (random() < 0.3) steps.push(...retrieved(random));
  if (random() < 0.4) steps.push(block('assistant', 'text', prose(random, 100 + whole(random, 300))));
  if (random() < 0.8) steps.push(call(random, number), result(random, number));
  else steps.push(block('user', 'text', prose(random, 100 + whole(random, 500))));
  return [...steps, { op: 'commit' }];
};

/**
 * The commands of one session of an agent with tools, one a model call, 20 to 60 of them: the same for the same number,
 * different for each.
 */
export function* session(number: number): Generator<Command> {
  const random = seeded(1_000_000 + number);
  const name = `session-${number}`;
  const history = historyId(name, '');
  const calls = 20 + whole(random, 41);
  for (let done = 0; done < calls; done += 1) {
    yield {
      id: `${name}:${done}`,
      history,
      branchId: 0,
      by: { recorder: 'bench' },
      steps: done === 0 ? opening(random, name) : cycle(random, done),
    };
  }
}
