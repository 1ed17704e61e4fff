import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { client } from '../support/client.ts'
import { hasBrowser, inBrowser, launchBrowser } from '../support/browser.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { serveReactPage } from '../support/react-page.ts'
import { startServer, type Server } from '../support/server.ts'
import { imported } from '../support/transfer.ts'

const rows = 10_000

/** Loads all messages before it shows them, in rows that count their renders. */
const chat = `
globalThis.renders = 0
const Row = memo(props => {
  globalThis.renders++
  return <parts.MessageRow {...props} />
})
const { messages } = parley.app(app)
messages.subscribe(() => {})
globalThis.load = async () => {
  while (messages.get().status !== 'live') await new Promise(resolve => setTimeout(resolve, 20))
  while (messages.get().hasMore) await messages.loadMore()
  return messages.get().data.length
}
globalThis.open = () => show(<div style={{ display: 'flex', flexDirection: 'column', flex: 1, minWidth: 0 }}>
  <parts.Messages app={app} Row={Row} />
  <parts.Composer app={app} />
</div>)
`

interface Globals {
  renders: number
  load(): Promise<number>
  open(): void
}

/** A room with days of talk, as a file to be imported. */
function* talk() {
  const words = 'the garden has a new gate and who waters plants when it rains on sunday afternoon'.split(' ')
  yield { type: 'header', format: 'parley', version: 1, source: 'test' }
  for (const id of ['ann', 'ben']) yield { type: 'user', id, uid: id, name: id }
  const begin = Date.now() - rows * 60_000
  const made = (n: number) => ({
    created_at: new Date(begin + n * 50_000).toISOString(),
    created_by: n % 3 ? 'ann' : 'ben',
  })
  yield { type: 'app', id: 'garden', uid: 'garden', kind: 'chat_room', name: 'Garden', ...made(0) }
  for (let n = 1; n <= rows; n++) {
    const more = Array.from({ length: n % 40 }, (_, at) => words[(n + at * 7) % words.length])
    yield { type: 'message', id: `m${n}`, app: 'garden', text: [`message ${n}`, ...more].join(' '), ...made(n) }
  }
  for (const user of ['ann', 'ben']) yield { type: 'member', app: 'garden', user, access: 'write', marked: `m${rows}` }
}

describe.skipIf(!hasBrowser)('a chat of ten thousand messages', inBrowser, () => {
  let database: Database
  let server: Server
  let browser: Browser
  let site: Awaited<ReturnType<typeof serveReactPage>>
  let page: Page
  let session: CDPSession
  beforeAll(async () => {
    ;[database, browser] = await Promise.all([createDatabase(), launchBrowser()])
    await imported(database.url, Array.from(talk()))
    server = await startServer({ DATABASE_URL: database.url, RATE_LIMIT_PER_MINUTE: '0' })
    site = await serveReactPage(server.url, chat, 'production')
    const { body } = await server.admin.post('/api/users/ann/tokens')
    page = await browser.newPage({ viewport: { width: 800, height: 600 } })
    await page.goto(`${site.url}/#${body.access_token},garden`)
    expect(await page.evaluate(() => (globalThis as unknown as Globals).load())).toBe(rows)
    session = await page.context().newCDPSession(page)
    // Processor time of the page's thread: what others do on the machine meanwhile does not count.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  })
  afterAll(async () => {
    await browser.close()
    await site[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  /** Processor time of the page, in milliseconds, and how many rows it rendered. */
  const costOf = async (what: () => Promise<unknown>) => {
    const read = async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      const busy = metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
      return { busy, renders: await page.evaluate(() => (globalThis as unknown as Globals).renders) }
    }
    const before = await read()
    await what()
    const after = await read()
    return { ms: after.busy - before.busy, renders: after.renders - before.renders }
  }

  test('opening it makes the rows of a few screens; a new message renders one row, and typing none', async () => {
    const { body } = await server.admin.post('/api/users/ben/tokens')
    const ben = client(server.url, body.access_token)

    const opened = await costOf(async () => {
      await page.evaluate(() => (globalThis as unknown as Globals).open())
      await page.getByRole('article').getByText(`message ${rows} `).waitFor()
      await page.waitForLoadState('networkidle')
    })
    const arrived = await costOf(async () => {
      await ben.post('/api/apps/garden/messages', { text: 'One more' })
      await page.getByRole('article').getByText('One more').waitFor()
    })
    const typed = await costOf(async () => {
      await ben.put('/api/apps/garden/typing')
      await page.getByText('ben is typing…').waitFor()
      await page.getByRole('textbox').pressSequentially('Hello there')
    })

    process.stdout.write(`${JSON.stringify({ opened, arrived })}\n`)
    expect(opened.renders).toBeLessThan(400)
    expect([arrived.renders, typed.renders]).toEqual([1, 0])
  })

  test('scrolling through it fits into 60 frames a second, and what is far behind costs nothing', async () => {
    const frames = 300
    let gaps: number[] = []

    const { ms } = await costOf(async () => {
      gaps = await page.getByRole('log').evaluate(async (log, frames) => {
        const gaps: number[] = []
        for (let last = performance.now(); gaps.length < frames; last += gaps.at(-1)!) {
          log.scrollBy({ top: -200 })
          await new Promise(resolve => requestAnimationFrame(resolve))
          gaps.push(performance.now() - last)
        }
        return gaps.sort((a, b) => a - b)
      }, frames)
    })

    process.stdout.write(`${JSON.stringify({ ofFrame: ms / frames, gap: gaps[frames / 2] })} ms\n`)
    expect(ms / frames).toBeLessThan(1000 / 60)
    expect(await page.getByRole('article').count()).toBeLessThan(400)

    // As where a phone shows the list of conversations instead.
    const hidden = await costOf(() =>
      page.getByRole('log').evaluate(async log => {
        for (const display of ['none', '']) {
          log.parentElement!.style.display = display
          for (let n = 0; n < 10; n++) await new Promise(resolve => requestAnimationFrame(resolve))
        }
      }),
    )
    expect(hidden.renders).toBe(0)
  })

  test('words far away are found by a search in the page, and what has the focus keeps it', async () => {
    await page.getByRole('log').evaluate(log => log.scrollTo({ top: 0 }))
    await page.getByRole('article').getByText('One more').waitFor()
    await page.getByRole('log').press('ArrowUp')
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    expect(await focused()).toContain('One more')

    const isFound = await page.evaluate(() => {
      // Backwards, from where the focus is. Other than the browser's own search, this one does not scroll.
      const isFound = (globalThis as unknown as { find(...of: unknown[]): boolean }).find('message 17 ', false, true)
      getSelection()?.anchorNode?.parentElement?.scrollIntoView()
      return isFound
    })

    expect(isFound).toBe(true)
    await page
      .getByRole('article')
      .getByText(/^message 17 /)
      .waitFor()
    expect(await focused()).toContain('One more')
  })
})
