/** Style sheets are imported for their effect: the build gathers them into one. */
declare module '*.css';
