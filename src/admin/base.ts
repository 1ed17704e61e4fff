/**
 * The path of the page without a trailing slash: `/admin`, or longer behind a proxy with a prefix. This script is in
 * the folder `assets` below it.
 */
export const base = new URL('..', import.meta.url).pathname.slice(0, -1)
