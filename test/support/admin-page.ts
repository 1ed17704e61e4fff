import type { Browser, Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { keepScreenshots, launchBrowser, watchFaults } from './browser.ts'
import { startServer, type Server } from './server.ts'

/** A browser in front of the administration page of a server. */
export class AdminPage implements AsyncDisposable {
  readonly server: Server
  readonly #browser: Browser
  readonly #open: Page[] = []
  #faults: string[] = []

  static async start(environment: Record<string, string> = {}): Promise<AdminPage> {
    const [server, browser] = await Promise.all([startServer(environment), launchBrowser()])
    return new AdminPage(server, browser)
  }

  constructor(server: Server, browser: Browser) {
    this.server = server
    this.#browser = browser
  }

  /** A window that nobody has signed in to, so many pixels wide. */
  async visit(path: string, width: number): Promise<Page> {
    const page = await this.#browser.newPage({ viewport: { width, height: 800 } })
    this.#open.push(page)
    page.setDefaultTimeout(10_000)
    watchFaults(page, fault => {
      // Whoever has no session is told so: by that the page knows that it has to ask for a key.
      if (!/^401 GET \S+\/admin\//.test(fault)) this.#faults.push(fault)
    })
    page.on('dialog', dialog => this.#faults.push(`A script says ${dialog.message()}`))
    await page.exposeFunction('reportViolation', (what: string) => this.#faults.push(`The policy forbids ${what}`))
    await page.addInitScript(
      `addEventListener('securitypolicyviolation', event => reportViolation(event.violatedDirective + ' ' + event.blockedURI))`,
    )
    await page.goto(`${this.server.url}/admin${path}`)
    return page
  }

  /** A window that is signed in. */
  async enter(path: string, width: number): Promise<Page> {
    const page = await this.visit(path, width)
    await signIn(page, this.server.key)
    return page
  }

  /**
   * Closes the windows of a test, and returns what went wrong in them: errors in the console, requests that failed or were
   * refused, and what the policy has kept from happening. If the test failed, what they showed is kept.
   */
  async clear({ task }: Pick<TestContext, 'task'>): Promise<string[]> {
    if (task.result?.state === 'fail') await keepScreenshots(task.name, this.#open)
    await Promise.all(this.#open.splice(0).map(page => page.context().close()))
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await this.server[Symbol.asyncDispose]()
  }
}

/** Signs in with a key that is accepted, and waits until the page that was asked for is there with what it shows. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await untilShown(page)
}

/** Goes to a page by the navigation, which is behind a button where there is no room for it. */
export async function follow(page: Page, title: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu' })
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title, exact: true }).click()
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
}

/** Goes to an address within the page, as the browser's history does, and waits until what it shows has come. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', '/admin${path}'); dispatchEvent(new PopStateEvent('popstate'))`)
  await untilShown(page)
}

async function untilShown(page: Page): Promise<void> {
  await page.locator('#content h1').first().waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
}

/** By how many pixels the document is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth')
}
