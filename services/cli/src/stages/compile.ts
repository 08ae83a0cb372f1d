import { collapsePolicy, compileStages, printPlain, type CompilerOutput } from '@stemma/stages';
import type { CommandSpec } from '../command.ts';
import { required } from '../options.ts';
import { table } from '../output.ts';
import { configOf, LOG_OPTIONS, profileOf, readLogFile } from './log-file.ts';

export const compileLog: CommandSpec = {
  name: 'compile',
  summary: 'compile an event log (JSONL) without importing it: stages, hashes and collapse policy as JSON',
  arguments: [['<file>', 'an event log; - reads stdin']],
  options: LOG_OPTIONS,
  run: async (context, [file], options) => {
    const profile = profileOf(options);
    const config = await configOf(context, profile, options);
    const previews = config.header.mode === 'sanitized_content';
    const { nodes, payload, skipped } = await readLogFile(context, required(file), profile, previews);
    const output = compileStages({ profile, nodes, config, payload });
    const result = {
      ...output,
      nodes: nodes.map(({ id, digest }) => ({ id, digest })),
      policy: collapsePolicy(nodes, config.collapse),
      skipped_lines: skipped.map(({ line }) => line),
    };
    // Who asks for the compiler's output wants the document; its summary is for whoever sits at a terminal.
    await context.output.write(printPlain(result) + '\n');
    if (!context.output.json)
      for (const summaryLine of summary(output, skipped.length).trimEnd().split('\n'))
        context.output.say(summaryLine);
    return undefined;
  },
};

const summary = ({ hashes, stages, node_count }: CompilerOutput, skipped: number): string => {
  const { selection } = stages.SPEC;
  const rows = [
    ['node_hash', hashes.node_hash, `${node_count} nodes, ${skipped} lines skipped`],
    ['z1', hashes.z1, 'RAW'],
    ['z2', hashes.z2, `SPEC: ${selection.selected_count} of ${selection.candidate_count} selected`],
    ['z3', hashes.z3, `HEADER: ${stages.HEADER.messages.length} messages, ${stages.HEADER.header_mode}`],
  ];
  const kinds = Object.entries(stages.RAW.kind_counts).map(([kind, count]) => [kind, String(count)]);
  return table(['hash', 'value', 'of'], rows) + '\n' + table(['kind', 'nodes'], kinds);
};
