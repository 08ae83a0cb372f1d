import type { CommandSpec } from '../src/command.ts';

/** The page that lists the commands, in Markdown: made from the catalogue, so that it cannot be wrong. */
export const listCommands = (commands: readonly CommandSpec[]): string => `# Commands

<!-- Made from services/cli/src/catalogue.ts by its test; \`vitest run services/cli/test/cli-doc.unit.test.ts -u\` writes it. -->

What does each command of the command line take? For example, \`stemma thread mine @c7 --text\` prints what the model was
shown at the 7th call of the history \`mine\`.

Every command takes \`--home DIR\` (default: \`STEMMA_HOME\`, then \`./.stemma\`) and \`--json\`, which prints one JSON document on
stdout; streams (\`log --follow\`, \`thread H '@*'\`) print one document a line. Messages and progress go to stderr.

Commands that answer questions or change a context also take \`--output agent\`: plain text for a language model, at most
\`--budget\` tokens of it (default: 4,000), and \`--cursor\` for the page behind. What was recorded stands between two lines that no
recorded text can forge ([agents](agents.md)).

Characters that one does not see (controls, directions, zero widths, line separators, tags) are printed as escapes, \`\\u202e\`. In JSON
they mean the same characters, so documents, JSON Lines and \`--provider\` messages keep their exact values; \`thread\`, \`export\` and
\`stages events\` are ASCII, so their bytes are exact. In tables and CSV the escapes only show what is there, and a cell that a
spreadsheet would take for a formula begins with an apostrophe. Errors repeat at most 200 characters of an input.

Exit codes: 0 ok, 1 failed, 3 conflict, 4 not allowed, 5 verification failed, 64 usage, 74 input or output, 130 cancelled, as by
Ctrl-C. What serves until it is told to end (\`up\`, \`open\`, \`mcp\`, \`projector\`, \`relay\`, \`runner\`) exits 0 after SIGTERM and 130 after Ctrl-C.

${commands.map((line) => section(line)).join('\n')}`;

const section = (
  { name, summary, arguments: given, options, subcommands = [] }: CommandSpec,
  path = 'stemma',
): string => {
  const usage = [
    path,
    name,
    ...given.map(([syntax]) => syntax),
    ...(options.length > 0 ? ['[options]'] : []),
  ];
  const rows = [...given, ...options].map(([syntax, description]) => `- \`${syntax}\`: ${description}`);
  const own = subcommands.map((each) => `\n${section(each, `${path} ${name}`)}`).join('');
  const title = `${path} ${name}`.replace('stemma ', '');
  return `${path === 'stemma' ? '##' : '###'} ${title}\n\n\`${usage.join(' ')}\`\n\n${sentence(summary)}\n${rows.length === 0 ? '' : `\n${rows.join('\n')}\n`}${own}`;
};

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
