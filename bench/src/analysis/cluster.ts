import { hdbscan, readVectors, selectRows } from '@stemma/analysis';
import { readFileSync } from 'node:fs';
import { timed } from '../measure.ts';
import type { Clustered } from './scikit-learn.ts';

export type ClusterInput = { readonly file: string; readonly minClusterSize: number };

/** Clusters the vectors of a file once, after a few of them. */
export const clusterVectors = async ({ file, minClusterSize }: ClusterInput): Promise<Clustered> => {
  const { vectors } = readVectors(readFileSync(file));
  hdbscan(
    selectRows(
      vectors,
      Int32Array.from({ length: 200 }, (_, i) => i),
    ),
  );
  const before = process.cpuUsage();
  const { ms, value } = await timed(() => hdbscan(vectors, { minClusterSize }));
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: (user + system) / 1000, labels: [...value.labels] };
};
