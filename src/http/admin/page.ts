import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BundledFile } from './bundle.ts'

/** The page's document, in the folder of the sources that are bundled for browsers. */
const documentFile = new URL('../../admin/index.html', import.meta.url)

/** The bundler, run in a child process: esbuild keeps a process of 30 MB alive as long as its user lives. */
const bundler = fileURLToPath(new URL('bundle.ts', import.meta.url))

/** Limits far above what a bundle of a few hundred kilobytes needs; no environment, and so no secrets. */
const bundling = { timeout: 60_000, maxBuffer: 64 * 1024 * 1024, env: {} }

/** A file of the page in a content coding. */
export interface PageFile {
  type: string
  etag: string
  /** Null: not encoded. */
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
 * The administration page in memory: its document, and the script and styles bundled from `src/admin`. Bundled on the
 * first request, in a child process, so that nodes start no slower, and pay nothing if the page is never opened.
 */
export class AdminPage {
  #files: Promise<ReadonlyMap<string, Forms>> | undefined

  /** The document for a path with this many slashes after `/admin`. */
  async document(depth: number, acceptEncoding: string): Promise<PageFile> {
    const files = await this.#load()
    return choose(files.get(documentName(depth))!, acceptEncoding)
  }

  /** A file of the page; null for an unknown name. */
  async asset(name: string, acceptEncoding: string): Promise<PageFile | null> {
    const files = await this.#load()
    const forms = name.endsWith('.html') ? undefined : files.get(name)
    return forms === undefined ? null : choose(forms, acceptEncoding)
  }

  #load(): Promise<ReadonlyMap<string, Forms>> {
    this.#files ??= buildPage().catch((error: unknown) => {
      // The next request tries again: the bundling process may have been out of memory.
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
  const documents = pathsToAdmin.map((way, depth) => [documentName(depth), withBasePath(document, way)] as const)
  const all = [...documents, ...files]
  return new Map(await Promise.all(all.map(async ([name, bytes]) => [name, await toForms(name, bytes)] as const)))
}

/**
 * Relative paths to the page's files from a path with no slash after `/admin`, with one, and so on: a proxy may serve
 * this server under an unknown prefix.
 */
const pathsToAdmin = ['admin/', '', '../', '../../']

const documentName = (depth: number) => `${depth}.html`

function withBasePath(document: string, way: string): Buffer {
  return Buffer.from(document.replaceAll('"assets/', `"${way}assets/`))
}

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Brotli's quality 9 of 11 takes a tenth of the time for a twentieth more bytes. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

async function toForms(name: string, bytes: Uint8Array): Promise<Forms> {
  const [br, gzipped] = await Promise.all([promisify(brotliCompress)(bytes, brotliOptions), promisify(gzip)(bytes)])
  const etag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return { type: types[name.split('.').at(-1)!]!, etag, identity: Buffer.from(bytes), br, gzip: gzipped }
}

/** Each encoding is a representation with an ETag of its own (RFC 9110, section 8.8.3.3). */
function choose(forms: Forms, acceptEncoding: string): PageFile {
  const { type, etag } = forms
  const encoding = accepts(acceptEncoding, 'br') ? 'br' : accepts(acceptEncoding, 'gzip') ? 'gzip' : null
  if (encoding === null) return { type, etag: `"${etag}"`, encoding, bytes: forms.identity }
  return { type, etag: `"${etag}-${encoding}"`, encoding, bytes: forms[encoding] }
}

/** True where Accept-Encoding lists the content coding with a weight above zero (RFC 9110, section 12.5.3). */
function accepts(header: string, coding: string): boolean {
  return header
    .toLowerCase()
    .split(',')
    .map(one => one.split(';').map(part => part.trim()))
    .some(([name, weight = 'q=1']) => name === coding && Number(weight.slice(2)) > 0)
}
