// Older ones have no zstd: without this they say that in a stack trace.
const OLDEST_NODE = [22, 15] as const;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  process.stderr.write(
    `stemma needs Node.js ${OLDEST_NODE.join('.')} or newer, and this is ${process.version}.\n`,
  );
  process.exit(1);
}

const stop = new AbortController();
// The first one asks the command to end, a second one ends the process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal));

// Loaded afterwards, so that Ctrl-C means the same while the rest is being loaded.
const { runCli } = await import('./run-cli.ts');
process.exitCode = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
});
