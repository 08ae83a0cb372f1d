/** True for names and addresses of this machine alone: `localhost`, 127.0.0.0/8, ::1. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
