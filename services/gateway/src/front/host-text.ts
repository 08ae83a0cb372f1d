/** A name or an address as it stands in a URL: `::1` is `[::1]`. */
export const hostText = (hostname: string): string => (hostname.includes(':') ? `[${hostname}]` : hostname);
