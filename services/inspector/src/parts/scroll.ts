import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/**
 * Keeps the important part of a list in view: its first new item when another position is shown (if nothing is new, its
 * end), and the chosen item when one is chosen.
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

/** The CSS selector of the chosen node in a list. */
export const selectorOf = (node: string | null): string =>
  node === null ? ':not(*)' : `[data-node="${CSS.escape(node)}"]`;
