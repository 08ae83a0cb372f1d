import type { CallApi } from '@stemma/events';

export { READ_APIS, type ReadApi } from '@stemma/events';

/** A language-model API whose bodies this package reads, or `other`. */
export type ModelApi = CallApi;
