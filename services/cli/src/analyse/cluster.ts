import type { CommandSpec } from '../command.ts';
import { whole } from '../options.ts';
import { oneLine, table, type Output } from '../output.ts';
import { askApart } from './ask-apart.ts';
import { figure, inWords, sayEmbedder, UNIT_OPTION, VECTOR_FILE } from './words.ts';
import { readFileBytes } from './read-files.ts';
import type { ClusterAnswer } from './questions.ts';

export const cluster: CommandSpec = {
  name: 'cluster',
  summary: 'find clusters of vectors or texts (HDBSCAN)',
  arguments: [['<file>', VECTOR_FILE]],
  options: [
    ['--min-cluster-size <rows>', 'the size of the smallest cluster (default: 3)'],
    [
      '--min-samples <rows>',
      'the rows in the neighbourhood that counts as dense (default: the smallest size)',
    ],
    ['--allow-single-cluster', 'a single cluster of all rows, where nothing divides them'],
    UNIT_OPTION,
  ],
  run: async (context, [file], options) => {
    const minClusterSize = whole(options, 'minClusterSize', { least: 2 }) ?? 3;
    const minSamples = whole(options, 'minSamples', { least: 1 });
    const answer = await askApart(
      {
        kind: 'cluster',
        ...{ minClusterSize, minSamples },
        file: await readFileBytes(context, file),
        unit: options['unit'] === true,
        allowSingleCluster: options['allowSingleCluster'] === true,
      },
      context.signal,
    );
    sayEmbedder(context, answer.embedder);
    await context.output.result(answer, () => describeClusters(answer, context.output));
    return undefined;
  },
};

/** Clusters in words: a table with the most typical row of each. */
export const describeClusters = (answer: ClusterAnswer, { width }: Output): string => {
  const { rows, dimension, clusters, noise, diversity } = answer;
  const spread = diversity === null ? '' : `, diversity ${figure(diversity)}`;
  const summary = `${inWords(rows, 'vector')} of ${inWords(dimension, 'number')}${spread}: ${inWords(clusters.length, 'cluster')}, ${inWords(noise, 'vector')} in none\n`;
  if (clusters.length === 0) return summary;
  const hasRounds = clusters.some(({ rounds }) => rounds !== null);
  const hasTexts = clusters.some(({ text }) => text !== null);
  const head = ['cluster', 'size', 'coherence', ...(hasRounds ? ['rounds'] : []), 'most typical'];
  const body = clusters.map(({ label, size, coherence, rounds, representative, text }) => [
    String(label),
    String(size),
    figure(coherence),
    ...(hasRounds ? [rounds === null ? '' : `${rounds.first}–${rounds.last}`] : []),
    `row ${representative + 1}${hasTexts ? `: ${oneLine(text ?? '', 200)}` : ''}`,
  ]);
  return `${summary}\n${table(head, body, width)}`;
};
