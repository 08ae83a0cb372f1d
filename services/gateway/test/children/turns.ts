import { isMainThread } from 'node:worker_threads';

/*
 * Runs before a program, and says, whenever the program is told anything, what the longest turn of its main thread since the last
 * time had of a processor, and how long the thread was kept from one at most: the machine's share. In milliseconds.
 */
if (isMainThread && process.argv[1] === process.env['TURNS_OF']) {
  const now = () => {
    const { user, system } = process.threadCpuUsage();
    return { at: performance.now(), worked: (user + system) / 1_000 };
  };
  let longest = { turn: 0, wait: 0 };
  let before = now();
  setInterval(() => {
    const after = now();
    const turn = after.worked - before.worked;
    longest = {
      turn: Math.max(longest.turn, turn),
      wait: Math.max(longest.wait, after.at - before.at - turn),
    };
    before = after;
  }, 1).unref();
  process.on('message', () => {
    process.send?.(longest);
    longest = { turn: 0, wait: 0 };
  });
  process.channel?.unref();
}
