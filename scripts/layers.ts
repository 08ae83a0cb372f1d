/** The packages from left to right. A package imports only those to its left; `services/` are last. */
export const layers = [
  'errors',
  'suspend',
  'canonical',
  'merkle',
  'analysis',
  'context-tree',
  'events',
  'stages',
  'history',
  'redaction',
  'selectors',
  'row-store',
  'history-store',
  'read-models',
  'model-apis',
  'importers',
  'calls',
  'api',
  'event-contract',
  'machine',
  'minds',
  'log',
  'privacy',
  'metrics',
  'lmdb-gate',
  'log-embedded',
  'log-kafka',
  'row-store-lmdb',
  'contents',
  'postgres',
  'contents-postgres',
  'row-store-postgres',
  'projector',
  'command-handler',
  'queries',
  'search',
  'steering',
  'operations',
  'home',
  'agent-loop',
  'pools',
  'reports',
  'experiments',
  'exchanges',
  'recorder',
  'test-kit',
];

/**
 * They import only each other and touch no clock, network, file, randomness or locale.
 * The row-store port is among them because read models are written against its table types.
 */
export const purePackages = [
  'errors',
  'suspend',
  'canonical',
  'merkle',
  'analysis',
  'context-tree',
  'events',
  'stages',
  'history',
  'selectors',
  'row-store',
  'history-store',
  'read-models',
  'model-apis',
  'importers',
  'calls',
  'api',
  'event-contract',
];

/** The only libraries a pure package imports. */
export const pureLibraries = ['zod', 'diff', 'rfc6902', 'umap-js', 'gpt-tokenizer'];

/** All that the inspector imports of Stemma. */
export const inspectorPackages = ['api', 'selectors', 'context-tree', 'errors'];
