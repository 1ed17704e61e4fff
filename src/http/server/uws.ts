/**
 * What the head of a request (its first line and headers) may take. uWebSockets.js refuses larger ones with a bare 431
 * of its own. Its default of 4 KiB is too little for long queries and for the headers that proxies add.
 */
const headLimitBytes = 64 * 1024

/**
 * Loads uWebSockets.js. It reads its limit from the environment once, when the native part is loaded, so everybody else
 * imports its types only.
 */
export async function loadUws(): Promise<typeof import('uWebSockets.js')> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headLimitBytes)
  return await import('uWebSockets.js')
}
