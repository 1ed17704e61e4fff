import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, inBrowser, launchBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { serveReactPage } from '../support/react-page.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

/** A chat whose rows count their renders. */
const chat = `
globalThis.renders = 0
const Row = props => {
  globalThis.renders++
  return <parts.MessageRow {...props} />
}
const CountedRow = memo(Row)
show(<div style={{ display: 'flex', flexDirection: 'column', flex: 1, minWidth: 0 }}>
  <parts.Messages app={app} Row={CountedRow} />
  <parts.Composer app={app} />
</div>)
`

/** A search that opens with a key, and says what was chosen. */
const search = `
function Page() {
  const [isOpen, open] = useState(false)
  const [chosen, choose] = useState('')
  useEffect(() => {
    const onKey = event => {
      if (event.key !== 'k' || !event.ctrlKey || event.defaultPrevented) return
      event.preventDefault()
      open(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <main>
      <textarea aria-label="Notes" />
      <output>{chosen}</output>
      {isOpen && <parts.Search onClose={() => open(false)} onOpen={({ type, snippet }) => choose(type + ': ' + snippet.text)} />}
    </main>
  )
}
show(<Page />)
`

/** Mounts and unmounts hooks of one app, and goes when it is told to. */
const mounts = `
function One() {
  parts.useMessages(app)
  parts.useTyping(app)
  parts.useMembers(app)
  parts.useAgentWork(app)
  return null
}
function Many() {
  const [round, set] = useState(0)
  useEffect(() => {
    if (round < 100) setTimeout(() => set(round + 1))
    else document.title = 'mounted'
  }, [round])
  return <One key={round} />
}
globalThis.leave = () => show(null)
show(<Many />)
`

describe.skipIf(!hasBrowser)('the components for React', inBrowser, () => {
  let server: Server
  let browser: Browser
  const sites: AsyncDisposable[] = []
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), launchBrowser()])
  })
  afterAll(async () => {
    await browser.close()
    for (const site of sites) await site[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })
  const open = async (code: string, person: Person, app: string, sent: string[] = []): Promise<Page> => {
    const site = await serveReactPage(server.url, code)
    sites.push(site)
    const page = await browser.newPage({ viewport: { width: 800, height: 600 } })
    page.setDefaultTimeout(10_000)
    page.on('websocket', socket => {
      socket.on('framesent', ({ payload }) => sent.push(String(payload)))
      socket.on('close', () => sent.push('closed'))
    })
    await page.goto(`${site.url}/#${person.token},${app}`)
    return page
  }
  const renders = (page: Page) => page.evaluate(() => (globalThis as unknown as { renders: number }).renders)

  test('a hundred mounts in Strict Mode are one subscription, and five seconds after the last there is none', async () => {
    const { app, people } = await server.chatWith(1)
    const sent: string[] = []
    const page = await open(mounts, people[0], app, sent)
    await page.waitForFunction(() => document.title === 'mounted')
    const asked = () => sent.filter(frame => frame.includes('"subscribe"'))
    expect(asked()).toHaveLength(1)

    await page.evaluate(() => (globalThis as unknown as { leave: () => void }).leave())

    // Nothing else holds the connection.
    await eventually(() => expect(sent.at(-1)).toBe('closed'), { timeoutMs: 9_000 })
  })

  test('typing renders no message, and a new message renders one row', async () => {
    const { app, people } = await server.chatWith(2)
    const [ann, ben] = people
    for (const text of ['one', 'two', 'three']) await ben.post(`/api/apps/${app}/messages`, { text })
    const page = await open(chat, ann, app)
    await page.getByRole('article').getByText('three').waitFor()
    await page.waitForLoadState('networkidle')
    const before = await renders(page)

    await ben.put(`/api/apps/${app}/typing`)
    await page.getByText('Ben is typing…').waitFor()
    expect(await renders(page)).toBe(before)

    await ben.post(`/api/apps/${app}/messages`, { text: 'four' })
    await page.getByRole('article').getByText('four').waitFor()
    // Strict Mode renders each of them twice.
    expect(await renders(page)).toBe(before + 2)
  })

  test('older messages come as they are scrolled to, and what is read stays where it is when a new one arrives', async () => {
    const { app, people } = await server.chatWith(2)
    const [ann, ben] = people
    for (let n = 1; n <= 120; n++) await ben.post(`/api/apps/${app}/messages`, { text: `message ${n}` })
    const page = await open(chat, ann, app)
    const log = page.getByRole('log')
    await log.getByText('message 120', { exact: true }).waitFor()
    await eventually(
      async () => {
        await log.evaluate(box => box.scrollTo({ top: -1e6 }))
        expect(await log.getByText('message 1', { exact: true }).count()).toBe(1)
      },
      { timeoutMs: 15_000, everyMs: 200 },
    )
    await log.getByText('message 60', { exact: true }).evaluate(row => row.scrollIntoView({ block: 'center' }))
    const place = () =>
      log.getByText('message 60', { exact: true }).evaluate(row => Math.round(row.getBoundingClientRect().top))
    const before = await place()

    await ben.post(`/api/apps/${app}/messages`, { text: 'message 121' })
    await log.getByText('message 121', { exact: true }).waitFor({ state: 'attached' })

    expect(Math.abs((await place()) - before)).toBeLessThanOrEqual(2)
    await page.getByRole('button', { name: 'Jump to newest' }).click()
    await page.getByRole('button', { name: 'Jump to newest' }).waitFor({ state: 'detached' })
  })

  test('keys make Markdown, which undo takes back', async () => {
    const { app, people } = await server.chatWith(1)
    const page = await open(chat, people[0], app)
    const field = page.getByRole('textbox')
    const after = async (keys: string) => {
      await field.press(keys)
      return await field.inputValue()
    }
    await field.pressSequentially('gate')

    await field.press('ControlOrMeta+a')
    expect(await after('ControlOrMeta+b')).toBe('**gate**')
    expect(await after('ControlOrMeta+i')).toBe('**_gate_**')
    expect(await after('ControlOrMeta+i')).toBe('**gate**')
    expect(await after('ControlOrMeta+z')).toBe('**_gate_**')
    expect(await after('ControlOrMeta+z')).toBe('**gate**')
    expect(await after('ControlOrMeta+z')).toBe('gate')
    await field.press('ControlOrMeta+a')
    await field.press('ControlOrMeta+k')
    // The address is selected, to be typed over.
    await field.pressSequentially('https://gate.example')
    expect(await field.inputValue()).toBe('[gate](https://gate.example)')
    await field.press('End')
    await page.getByRole('button', { name: 'Emoji' }).press('Enter')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await field.press('Enter')

    const link = page.getByRole('article').getByRole('link', { name: 'gate' })
    expect(await link.getAttribute('href')).toBe('https://gate.example')
    await page.getByRole('article').getByText('😀').waitFor()
  })

  test('a name finds people of a large room whom the page does not know yet', async () => {
    const { app, people } = await server.chatWith(115)
    const page = await open(chat, people[0], app)
    const field = page.getByRole('textbox')
    for (const name of ['Member 4', 'Member 60', 'Member 114']) {
      await field.fill(`@${name}`)
      await page.getByRole('option', { name, exact: true }).waitFor()
    }
    await page.keyboard.press('Enter')

    expect(await field.inputValue()).toBe('@Member 114 ')
  })

  test('files that are pasted and dropped go with the message, but for those that are removed', async () => {
    const { app, people } = await server.chatWith(1)
    const page = await open(chat, people[0], app)
    const field = page.getByRole('textbox')
    const give = (event: 'paste' | 'drop', ...names: string[]) =>
      field.evaluate(
        (field, [event, names]) => {
          const data = new DataTransfer()
          for (const name of names) data.items.add(new File(['x'.repeat(9_000)], name, { type: 'text/plain' }))
          const options = { bubbles: true, cancelable: true }
          field.dispatchEvent(
            event === 'paste'
              ? new ClipboardEvent('paste', { ...options, clipboardData: data })
              : new DragEvent('drop', { ...options, dataTransfer: data }),
          )
        },
        [event, names] as const,
      )

    await give('paste', 'plan.txt')
    await give('drop', 'list.txt', 'other.txt')
    await page.getByRole('button', { name: 'Remove other.txt' }).press('Enter')
    await eventually(async () => expect(await page.getByRole('progressbar').count()).toBe(0))
    await field.press('Enter')

    const files = page.getByRole('article').getByRole('list', { name: 'Attachments' }).getByRole('link')
    await eventually(async () =>
      expect((await files.allTextContents()).toSorted()).toEqual(['list.txt9 kB', 'plan.txt9 kB']),
    )
    expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
  })

  test('a poll is made and voted in with the keyboard alone', async () => {
    const { app, people } = await server.chatWith(2)
    const [ann, ben] = people
    const [page, other] = [await open(chat, ann, app), await open(chat, ben, app)]

    await page.getByRole('button', { name: 'Make a poll' }).press('Enter')
    for (const text of ['What shall we drink?', 'Tea', 'Coffee', '']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }

    const option = (page: Page) => page.getByRole('article').getByRole('button', { name: /^Coffee/ })
    await option(other).press('Enter')
    await option(page).getByText('1 vote', { exact: true }).waitFor()
    expect(await option(other).getAttribute('aria-pressed')).toBe('true')
    expect(await page.getByRole('list', { name: 'Poll' }).getByRole('button').count()).toBe(2)
    expect(await page.getByRole('group', { name: 'Poll' }).count()).toBe(0)
  })

  test('the keyboard alone edits, reacts and deletes, and never loses its place', async () => {
    const { app, people } = await server.chatWith(1)
    const [ann] = people
    for (const text of ['one', 'two', 'three']) await ann.post(`/api/apps/${app}/messages`, { text })
    const page = await open(chat, ann, app)
    const { keyboard } = page
    const row = page.getByRole('article')
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    await row.getByText('three').waitFor()
    await page.getByRole('log').focus()

    await keyboard.press('ArrowUp')
    await keyboard.press('ArrowUp')
    expect(await focused()).toBe('Ann: two')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await row.nth(1).getByRole('button', { name: '👍, 1' }).waitFor()
    expect(await focused()).toBe('React')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await keyboard.press('ControlOrMeta+a')
    await keyboard.type('Two')
    await keyboard.press('Enter')
    await row.getByText('edited').waitFor()
    expect(await focused()).toBe('Ann: Two')
    for (const name of ['👍, 1', 'React', 'Edit', 'Delete']) {
      await keyboard.press('Tab')
      expect(await focused()).toBe(name)
    }
    await keyboard.press('Enter')
    await eventually(async () => expect(await row.count()).toBe(2))
    expect(await focused()).toBe('Ann: three')
    await keyboard.press('ArrowUp')
    expect(await focused()).toBe('Ann: one')
  })

  test('search asks when typing pauses, marks what it found, and is closed and opened with keys', async () => {
    const { app, people } = await server.chatWith(2)
    const [ann, ben] = people
    for (const text of ['The <b>garden</b> gate', 'Gardens are green', 'Nothing'])
      await ben.post(`/api/apps/${app}/messages`, { text: text.replace('<', '\\<') })
    const page = await open(search, ann, app)
    const asked: string[] = []
    page.on('request', request => {
      const url = new URL(request.url())
      if (url.pathname === '/api/search') asked.push(url.searchParams.get('q')!)
    })
    await page.getByRole('textbox', { name: 'Notes' }).press('Control+k')
    const field = page.getByRole('combobox', { name: 'Search' })

    await field.pressSequentially('garden')

    const options = page.getByRole('option')
    await page.getByText('2 results').waitFor()
    expect(asked.at(-1)).toBe('garden')
    expect(asked.length).toBeLessThan(6)
    expect((await options.locator('mark').allTextContents()).toSorted()).toEqual(['Gardens', 'garden'])
    expect(await options.locator('b').count()).toBe(0)
    await field.press('ArrowDown')
    const second = await options.nth(1).locator('.pl-preview').textContent()
    await field.press('Enter')
    expect(await page.getByRole('status').textContent()).toBe(`message: ${second}`)
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Notes')

    await page.keyboard.press('Control+k')
    await field.pressSequentially('zebra')
    await page.getByText('Nothing was found.').waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
  })
})
