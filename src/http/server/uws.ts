/**
 * The largest head of a request (first line and headers). uWebSockets.js refuses larger ones with a bare 431. Its
 * default of 4 KiB is too little for long queries and for the headers that proxies add.
 */
const headLimitBytes = 64 * 1024

/**
 * Loads uWebSockets.js, which reads its limit from the environment once, when the native module is loaded. All other
 * files import its types only.
 */
export async function loadUws(): Promise<typeof import('uWebSockets.js')> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headLimitBytes)
  return await import('uWebSockets.js')
}
