import { toWireJson } from '@stemma/api';
import type { LoggedEvent } from '@stemma/queries';
import type { TopCommand } from '../command.ts';
import { text, whole } from '../options.ts';
import { oneLine, printable, type Output } from '../output.ts';
import { time } from '../time.ts';
import { nodeId } from '../references.ts';

export const log: TopCommand = {
  name: 'log',
  summary: 'list the events of a history, oldest first',
  group: 'Look',
  place: 9,
  example: 'stemma log mine --from 40',
  arguments: [['<history>', 'a history, by id or name']],
  options: [
    ['--from <seq>', 'the first frame (default: 0)'],
    ['--node <id>', "the node whose events are listed, in all branches: '#a1' (default: all nodes)"],
    ['--full', 'whole events (default: so much of each as fits a line)'],
    ['--follow', 'new events as they arrive; with --json one JSON document a line'],
  ],
  run: async ({ findBranch: find, output, signal }, [name], options) => {
    const { home, branchRef } = await find(name);
    const { history } = branchRef;
    const follow = options['follow'] === true;
    const asked = text(options, 'node');
    const about = asked === undefined ? {} : { node: nodeId(asked) };
    let from = whole(options, 'from', { least: 0 }) ?? 0;
    const recorded = async function* (): AsyncGenerator<LoggedEvent> {
      for (;;) {
        signal.throwIfAborted();
        const page = await home.read.events(history, { from, limit: 1000, ...about });
        const last = page.at(-1);
        if (last === undefined) return;
        from = last.seq + 1;
        yield* page;
      }
    };
    const width = options['full'] === true ? Number.POSITIVE_INFINITY : Math.min(output.width, LINE);
    if (output.json && !follow) await output.list(recorded());
    else for await (const event of recorded()) await print(output, event, width);
    if (!follow) return undefined;
    for await (const { events } of home.follow({ signal, history, from })) {
      const [first] = events;
      const wanted =
        first === undefined || about.node === undefined
          ? events
          : await home.read.events(history, { from: first.seq, limit: 1, ...about });
      for (const event of wanted)
        if (event.seq === first?.seq || about.node === undefined) await print(output, event, width);
    }
    return 130; // a follow ends only by being cancelled
  },
};

/** So wide a line is without a terminal. */
const LINE = 160;

const print = (output: Output, event: LoggedEvent, width: number): Promise<void> =>
  output.write(output.json ? toWireJson(event) + '\n' : describe(event, width));

const describe = ({ seq, index, branchId, at, author, event }: LoggedEvent, width: number): string => {
  const by = 'recorder' in author ? author.recorder : author.actor;
  const { type, ...rest } = event;
  const eventText = `${seq}.${index}`.padEnd(8);
  const line = `${eventText} ${time(at)}  ${printable(by)}${branchId === 0 ? '' : ` ~${branchId}`}  ${type}  ${toWireJson(rest)}`;
  return oneLine(line, width) + '\n';
};
