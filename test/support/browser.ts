import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { servePages, type Pages } from '../../src/demo/pages.ts'
import { createFaultProxy, type FaultProxy } from '../../src/client/testing/proxy.ts'
import { startServer, type Person, type Server } from './server.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** Where a browser may be started. Printed once, so that nobody takes skipped tests for passed ones. */
export const hasBrowser = existsSync(executablePath)
if (!hasBrowser)
  process.stdout.write(`Browser tests are skipped: there is no ${executablePath} (apt install chromium)\n`)

/** A machine that does much else meanwhile may cut a browser short: what is broken fails each time. */
export const inBrowser = { retry: 2 }

/** What the kit wants to hear of a server; it complains in the console otherwise. */
const kitVersion = '32.2.0'

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

/**
 * One browser, a server, and the pages of the demo with the unmodified UI kit. Between the browser and the server is a
 * network that can fail.
 */
export class Kit implements AsyncDisposable {
  readonly server: Server
  readonly network: FaultProxy
  readonly #browser: Browser
  readonly #pages: Pages
  readonly #open: Page[] = []
  readonly #elements = new WeakMap<Page, string>()
  #faults: string[] = []
  #allowed: RegExp[] = []

  static async start(environment: Record<string, string> = {}): Promise<Kit> {
    const [server, browser] = await Promise.all([startServer({ VERSION: kitVersion, ...environment }), launchBrowser()])
    const network = await createFaultProxy(server.url)
    const pages = await servePages({ server: network.url, key: server.key, port: 0, people: [] })
    return new Kit(server, network, browser, pages)
  }

  constructor(server: Server, network: FaultProxy, browser: Browser, pages: Pages) {
    this.server = server
    this.network = network
    this.#browser = browser
    this.#pages = pages
  }

  /** A page of one person, with one component: a view of the demo, or an element of the kit. */
  async show(person: Person, view: string): Promise<Page> {
    const isElement = view.startsWith('<')
    const page = await this.visit(`${this.#pages.url}/person?user=${person.id}&view=${isElement ? 'none' : view}`)
    if (isElement) await this.put(page, view)
    else await settle(page)
    return page
  }

  /** A page of anybody. */
  async visit(address: string): Promise<Page> {
    const page = await this.#browser.newPage({ viewport: { width: 800, height: 700 } })
    this.#open.push(page)
    watchFaults(page, fault => this.#faults.push(fault))
    page.setDefaultTimeout(10_000)
    await page.goto(address)
    return page
  }

  /** Shows other elements on a page without a view. */
  async put(page: Page, elements: string): Promise<void> {
    this.#elements.set(page, elements)
    await page.locator('main').evaluate((main, html) => (main.innerHTML = html), elements)
    await settle(page)
  }

  /** Loads a page of elements again. */
  async reload(page: Page): Promise<void> {
    await page.reload()
    await this.put(page, this.#elements.get(page) ?? '')
  }

  /** Such a fault is no fault in this test. */
  allow(fault: RegExp): void {
    this.#allowed.push(fault)
  }

  /**
   * Closes the pages of a test, and returns what went wrong in them: errors in the console, and requests that failed or
   * were refused. If the test failed, what they showed is kept under test/artefacts.
   */
  async clear({ task }: Pick<TestContext, 'task'>): Promise<string[]> {
    if (task.result?.state === 'fail') await keepScreenshots(task.name, this.#open)
    const faults = this.#faults.filter(fault => !this.#allowed.some(allowed => allowed.test(fault)))
    await Promise.all(this.#open.splice(0).map(page => page.context().close()))
    this.#faults = []
    this.#allowed = []
    return faults
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await this.#pages.close()
    await this.network[Symbol.asyncDispose]()
    await this.server[Symbol.asyncDispose]()
  }
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: flags })
}

/** What pages show, to be looked at after a test has failed, under test/artefacts. */
export async function keepScreenshots(name: string, pages: Page[]): Promise<void> {
  mkdirSync(artefacts, { recursive: true })
  const path = join(artefacts, name.replace(/\W+/g, '-'))
  await Promise.all(pages.map((page, index) => page.screenshot({ path: `${path}-${index + 1}.png` })))
}

/** Tells what goes wrong in a page: errors in the console, and requests that fail or are refused. */
export function watchFaults(page: Page, onFault: (fault: string) => void): void {
  page.on('pageerror', error => onFault(`${error}`))
  page.on('console', message => {
    // Of requests the browser says only that they failed; below is said which.
    const isOfRequest = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isOfRequest) onFault(message.text())
  })
  page.on('response', response => {
    const request = response.request()
    const sent = request.postData() ?? ''
    if (response.status() >= 400) onFault(`${response.status()} ${request.method()} ${request.url()} ${sent}`)
  })
  page.on('requestfailed', request => {
    const reason = request.failure()?.errorText
    // The page itself gave it up.
    if (reason !== 'net::ERR_ABORTED') onFault(`${reason} ${request.method()} ${request.url()}`)
  })
}

/** While it loads, the kit makes its editor anew, with whatever was typed into it, and hears of nothing. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
}
