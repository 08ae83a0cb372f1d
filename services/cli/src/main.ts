import { Command as Commander } from 'commander';
import { register, usageExit } from './command.ts';
import { COMMANDS } from './catalogue.ts';

const program = new Commander('stemma')
  .description('The flight recorder and time machine for what language models are shown.')
  .version('0.1.0')
  .exitOverride()
  .showHelpAfterError('(run with --help to see what it takes)');

let exitCode = 0;
for (const line of COMMANDS) register(program, line, (code) => (exitCode = code));

// A reader that goes away (`stemma log H | head`) ends the command, it is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 74);
});

try {
  await program.parseAsync();
} catch (error) {
  exitCode = usageExit(error);
}
process.exitCode = exitCode;
