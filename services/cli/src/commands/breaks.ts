import type { TopCommand } from '../command.ts';
import { table } from '../output.ts';
import { conditionsOf } from '../steering-command.ts';
import { HISTORY } from '../options.ts';

export const breaks: TopCommand = {
  name: 'breaks',
  summary: 'list the breakpoints of a branch',
  group: 'Steer a running agent',
  place: 3,
  example: 'stemma breaks mine',
  arguments: [HISTORY],
  options: [],
  run: async ({ findBranch, output }, [name]) => {
    const { home, branchRef } = await findBranch(name);
    const breakpoints = (await home.steering.breakpoints(branchRef)).map((each) => ({
      name: each.name,
      ...each.breakpoint,
    }));
    await output.result({ ...branchRef, breakpoints }, () =>
      breakpoints.length === 0
        ? 'no breakpoints\n'
        : table(
            ['NAME', 'WHERE', 'AT MOST', 'THEN'],
            breakpoints.map(({ name: own, ...each }) => [
              own,
              conditionsOf(each),
              `${each.timeout_ms / 1_000} s`,
              each.then,
            ]),
          ),
    );
    return undefined;
  },
};
