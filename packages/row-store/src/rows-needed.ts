/**
 * Thrown by a read for rows that are not at hand: not an error, but the way a function that does not wait asks for them.
 * Whoever called the function fetches them and calls it again; the function has left no trace.
 */
export class RowsNeeded extends Error {
  override readonly name = 'RowsNeeded';
}
