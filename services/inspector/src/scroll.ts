import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/**
 * Keeps what matters of a list in view: its first new part when another position is shown (where nothing is new, its
 * end), and what is chosen when something is chosen.
 *
 * @param position what is shown: when it changes, the list is scrolled.
 */
export const useScroll = (
  list: RefObject<HTMLElement | null>,
  position: string,
  selectors: { readonly first: string; readonly chosen: string },
): void => {
  const chosenText = selectors.chosen;
  useLayoutEffect(() => {
    const pane = list.current?.closest('.scroll');
    if (!(pane instanceof HTMLElement) || list.current === null) return;
    const target = list.current.querySelector(chosenText) ?? list.current.querySelector(selectors.first);
    pane.scrollTop = target instanceof HTMLElement ? Math.max(0, target.offsetTop - 60) : pane.scrollHeight;
  }, [position]);
  useLayoutEffect(() => {
    const target = list.current?.querySelector(chosenText);
    target?.scrollIntoView({ block: 'nearest' });
  }, [chosenText]);
};

/** What finds the chosen node in a list. */
export const selectorOf = (node: string | null): string =>
  node === null ? ':not(*)' : `[data-node="${CSS.escape(node)}"]`;
