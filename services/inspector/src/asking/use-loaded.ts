import { useEffect, useState } from 'preact/hooks';

type Loaded<T> = { readonly value?: T; readonly failed?: boolean };

/** A part of the page that is fetched when it is first needed. */
export const useLoaded = <T>(key: string, load: () => Promise<T>): Loaded<T> => {
  const [loaded, setLoaded] = useState<Loaded<T> & { readonly key: string }>({ key: '' });
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && setLoaded({ key, value }),
      () => isCurrent && setLoaded({ key, failed: true }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return loaded.key === key ? loaded : {};
};
