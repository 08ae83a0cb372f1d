const stop = new AbortController();
// The first one asks the command to end, a second one ends the process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

// Loaded afterwards, so that Ctrl-C means the same while the rest is being loaded.
const { runCli } = await import('./run-cli.ts');
process.exitCode = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: stop.signal,
});
