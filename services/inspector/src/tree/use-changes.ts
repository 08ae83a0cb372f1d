import { useLayoutEffect, useReducer } from 'preact/hooks';

/** Something outside of the page's components that changes: `version` is another after every change. */
export type Changing = { version(): number; subscribe(listener: () => void): () => void };

/** Renders the component again after every change, also one that came between its rendering and its subscription. */
export const useChanges = (changing: Changing): void => {
  const [, rerender] = useReducer((n: number) => n + 1, 0);
  const rendered = changing.version();
  useLayoutEffect(() => {
    if (changing.version() !== rendered) rerender(undefined);
    return changing.subscribe(() => rerender(undefined));
  }, [changing]);
};
