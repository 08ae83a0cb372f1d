/** Milliseconds since 1970 as people read them, in UTC: the same everywhere. */
export const time = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace('T', ' ').slice(0, 19) + 'Z';
