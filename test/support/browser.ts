import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { servePages } from '../../src/demo/pages.ts'
import { startServer, type Person, type Server } from './server.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** Where a browser may be started. Printed once, so that nobody takes skipped tests for passed ones. */
export const hasBrowser = existsSync(executablePath)
if (!hasBrowser)
  process.stdout.write(`Browser tests are skipped: there is no ${executablePath} (apt install chromium)\n`)

const artefacts = join(import.meta.dirname, '../artefacts')

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** One browser, a server, and the pages of the demo with the unmodified UI kit. */
export class Kit implements AsyncDisposable {
  readonly server: Server
  readonly #browser: Browser
  readonly #pages: Awaited<ReturnType<typeof servePages>>
  readonly #open: Page[] = []

  static async start(): Promise<Kit> {
    const [server, browser] = await Promise.all([startServer(), chromium.launch({ executablePath, args: flags })])
    const pages = await servePages({ server: server.url, key: server.key, port: 0, people: [] })
    return new Kit(server, browser, pages)
  }

  constructor(server: Server, browser: Browser, pages: Awaited<ReturnType<typeof servePages>>) {
    this.server = server
    this.#browser = browser
    this.#pages = pages
  }

  /** A page of one person, with one component. */
  async show(person: Person, view: string): Promise<Page> {
    const page = await this.#browser.newPage({ viewport: { width: 800, height: 700 } })
    this.#open.push(page)
    page.setDefaultTimeout(10_000)
    await page.goto(`${this.#pages.url}/person?user=${person.id}&view=${view}`)
    return page
  }

  /** Closes the pages of a test. If it failed, what they showed is kept under test/artefacts. */
  async clear({ task }: Pick<TestContext, 'task'>): Promise<void> {
    if (task.result?.state === 'fail') {
      mkdirSync(artefacts, { recursive: true })
      const name = join(artefacts, task.name.replace(/\W+/g, '-'))
      await Promise.all(this.#open.map((page, index) => page.screenshot({ path: `${name}-${index + 1}.png` })))
    }
    await Promise.all(this.#open.splice(0).map(page => page.context().close()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await this.#pages.close()
    await this.server[Symbol.asyncDispose]()
  }
}
