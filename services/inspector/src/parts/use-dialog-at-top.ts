import { useEffect, useRef } from 'preact/hooks';

/** Opens a dialog of text at its top: the focus is on its button, which stands at the end. */
export const useDialogAtTop = (): { readonly current: HTMLDialogElement | null } => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.scrollTo(0, 0);
  }, []);
  return dialog;
};
