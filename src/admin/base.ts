/**
 * The path that the page is at, without a slash at the end: `/admin`, or longer where a proxy serves this server under a
 * path of its own. This script is in the folder `assets` below it.
 */
export const base = new URL('..', import.meta.url).pathname.slice(0, -1)
