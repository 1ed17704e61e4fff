import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BundledFile } from './bundle.ts'

/** The document of the page, beside the source that is bundled for browsers and never imported. */
const documentFile = new URL('../../admin/index.html', import.meta.url)

/** What bundles, run in a process of its own: esbuild keeps one, of 30 MB, for as long as the process lives that uses it. */
const bundler = fileURLToPath(new URL('bundle.ts', import.meta.url))

/** Far more than a busy machine needs, for a bundle of a few hundred kilobytes; and none of the secrets of the settings. */
const bundling = { timeout: 60_000, maxBuffer: 64 * 1024 * 1024, env: {} }

/** A file of the page, in a form that a browser takes. */
export interface PageFile {
  type: string
  etag: string
  /** Null: as it is. */
  encoding: 'br' | 'gzip' | null
  bytes: Buffer
}

interface Forms {
  type: string
  etag: string
  identity: Buffer
  br: Buffer
  gzip: Buffer
}

/**
 * The administration page, in memory: its document, and the script and styles that are bundled from `src/admin`. That
 * happens with the first request for any of them, in a process beside this one: a node starts no slower for it, and one
 * whose page is never opened does without.
 */
export class AdminPage {
  #files: Promise<ReadonlyMap<string, Forms>> | undefined

  /** The document itself, for addresses with so many slashes after `/admin`, whatever view they name. */
  async document(depth: number, acceptEncoding: string): Promise<PageFile> {
    const files = await this.#load()
    return choose(files.get(documentName(depth))!, acceptEncoding)
  }

  /** Null for what the page does not consist of. */
  async asset(name: string, acceptEncoding: string): Promise<PageFile | null> {
    const files = await this.#load()
    const forms = name.endsWith('.html') ? undefined : files.get(name)
    return forms === undefined ? null : choose(forms, acceptEncoding)
  }

  #load(): Promise<ReadonlyMap<string, Forms>> {
    this.#files ??= buildPage().catch((error: unknown) => {
      // The next request tries again: the process that bundles may have been out of memory.
      this.#files = undefined
      throw error
    })
    return this.#files
  }
}

async function buildPage(): Promise<ReadonlyMap<string, Forms>> {
  const options = ['--disable-warning=ExperimentalWarning', bundler]
  const [document, { stdout }] = await Promise.all([
    readFile(documentFile, 'utf8'),
    promisify(execFile)(process.execPath, options, bundling),
  ])
  const bundled = JSON.parse(stdout) as BundledFile[]
  const files = bundled.map(({ path, base64 }) => [basename(path), Buffer.from(base64, 'base64')] as const)
  const documents = wayToAdmin.map((way, depth) => [documentName(depth), withWay(document, way)] as const)
  const all = [...documents, ...files]
  return new Map(await Promise.all(all.map(async ([name, bytes]) => [name, await toForms(name, bytes)] as const)))
}

/**
 * The way from an address with no slash after `/admin`, with one, and so on, to what is beside it: a proxy may serve this
 * server under a path that it does not know.
 */
const wayToAdmin = ['admin/', '', '../', '../../']

const documentName = (depth: number) => `${depth}.html`

function withWay(document: string, way: string): Buffer {
  return Buffer.from(document.replaceAll('"assets/', `"${way}assets/`))
}

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Brotli's 9 of 11: a tenth of the time for a twentieth of the bytes. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

async function toForms(name: string, bytes: Uint8Array): Promise<Forms> {
  const [br, gzipped] = await Promise.all([promisify(brotliCompress)(bytes, brotliOptions), promisify(gzip)(bytes)])
  const etag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return { type: types[name.split('.').at(-1)!]!, etag, identity: Buffer.from(bytes), br, gzip: gzipped }
}

/** Another encoding is another representation, so it has an ETag of its own (RFC 9110, 8.8.3.3). */
function choose(forms: Forms, acceptEncoding: string): PageFile {
  const { type, etag } = forms
  const encoding = accepts(acceptEncoding, 'br') ? 'br' : accepts(acceptEncoding, 'gzip') ? 'gzip' : null
  if (encoding === null) return { type, etag: `"${etag}"`, encoding, bytes: forms.identity }
  return { type, etag: `"${etag}-${encoding}"`, encoding, bytes: forms[encoding] }
}

/** Whether a content coding is in Accept-Encoding, and not with a weight of zero. */
function accepts(header: string, coding: string): boolean {
  return header
    .toLowerCase()
    .split(',')
    .map(one => one.split(';').map(part => part.trim()))
    .some(([name, weight = 'q=1']) => name === coding && Number(weight.slice(2)) > 0)
}
