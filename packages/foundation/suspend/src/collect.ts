import { Missing, missing } from './missing.ts';

/**
 * The result of `read` for `arg`, or `otherwise` if something is missing. The argument is passed along so that a loop
 * over many items needs no closure for each.
 */
export type Attempt = <Arg, Result, Otherwise>(
  read: (arg: Arg) => Result,
  arg: Arg,
  otherwise: Otherwise,
) => Result | Otherwise;

/**
 * The result of `run`. If any of its attempts lacked something, the result is dropped and one {@link Missing} names all
 * of these needs, so that one fetch gets them. Only one kind, the first one met: the others follow when `run` is called
 * again. Other errors of `run` are thrown only when nothing is missing, because a stand-in may have caused them.
 *
 * @throws Missing
 */
export const collect = <T>(run: (attempt: Attempt) => T): T => {
  let first: Missing | undefined;
  const needs: unknown[] = [];
  const note = (error: unknown): void => {
    if (!(error instanceof Missing)) throw error;
    first ??= error;
    if (error.kind === first.kind) for (const need of error.needs) needs.push(need);
  };
  const attempt: Attempt = (read, arg, otherwise) => {
    try {
      return read(arg);
    } catch (error) {
      note(error);
      return otherwise;
    }
  };
  try {
    const result = run(attempt);
    if (first === undefined) return result;
  } catch (error) {
    if (first === undefined) throw error;
    if (error instanceof Missing) note(error);
  }
  throw missing(first.kind, needs);
};
