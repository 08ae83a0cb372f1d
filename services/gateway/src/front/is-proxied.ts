/** Calls of models go through under this prefix, whatever the method: the proxy answers them as they come. */
export const isProxied = ({ url = '' }: { readonly url?: string | undefined }): boolean =>
  url.startsWith('/proxy/');
