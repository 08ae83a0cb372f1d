import { useLayoutEffect } from 'preact/hooks';

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/**
 * Makes a list one stop of the Tab key: arrows, Home and End go from item to item, and Tab leaves the list.
 *
 * @param items a selector of the items; one with `aria-current` is the stop, else the first
 */
export const useOneStop = (list: { readonly current: HTMLElement | null }, items: string): void => {
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    const all = [...element.querySelectorAll<HTMLElement>(items)];
    const stop = all.find((one) => one.hasAttribute('aria-current')) ?? all[0];
    for (const one of all) one.tabIndex = one === stop ? 0 : -1;
    const pressed = (event: KeyboardEvent): void => moveItem(event, element, items);
    element.addEventListener('keydown', pressed);
    return () => element.removeEventListener('keydown', pressed);
  });
};

/** The arrow keys go to the item before or after the one with the focus, and to the first from the list itself. */
export const moveItem = (event: KeyboardEvent, list: Element, items: string): void => {
  const step = STEPS[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const all = [...list.querySelectorAll<HTMLElement>(items)];
  const now = all.findIndex((one) => one === event.target);
  const next = all[Math.max(0, Math.min(all.length - 1, now + step))];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
};
