import { readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

/** The version of this program. The version of the API that it serves is the setting VERSION. */
export const productVersion = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
