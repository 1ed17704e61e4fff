import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AdminPage, goTo, overflowOf, signIn } from '../support/admin-page.ts'
import { findFaults } from '../support/axe.ts'
import { hasBrowser, inBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, decide, personWithPassword, register } from '../support/oauth.ts'
import { listen } from '../support/realtime.ts'
import { answer, startReceiver, type Receiver } from '../support/receiver.ts'

/** What would run, if it were taken for HTML, and has nowhere to break. */
const hostile = `<img src=x onerror=alert(1)>${'W'.repeat(120)}`

describe.skipIf(!hasBrowser)('the views of the administration page', inBrowser, () => {
  let admin: AdminPage
  let receiver: Receiver
  let views: string[]
  let connection: AsyncDisposable
  beforeAll(async () => {
    receiver = await startReceiver(answer(500, hostile))
    admin = await AdminPage.start({ OPENAI_API_KEY: 'sk-test' })
    ;({ views, connection } = await fill(admin, receiver))
  })
  afterEach(async context => {
    expect(await admin.clear(context)).toEqual([])
  })
  afterAll(async () => {
    for (const part of [connection, admin, receiver]) await part[Symbol.asyncDispose]()
  })

  // In a window of 1190 pixels, tables have the least room in which they are tables.
  test.for([375, 1190, 1280])(
    'show what users wrote as text, with nothing cut or broken in a window of %i pixels',
    { timeout: 120_000 },
    async width => {
      const page = await admin.enter('', width)

      for (const view of views) {
        await goTo(page, view)
        expect([view, await overflowOf(page)]).toEqual([view, 0])
        expect([view, await page.locator('main img').count()]).toEqual([view, 0])
        expect([view, await page.locator('.failure').allInnerTexts()]).toEqual([view, []])
        expect([view, await page.evaluate(`(${findCut})()`)]).toEqual([view, []])
        expect([view, await page.evaluate(`(${findPlainLinks})()`)]).toEqual([view, []])
        expect([view, await page.evaluate(`(${findBroken})()`)]).toEqual([view, []])
      }
    },
  )

  test(
    'and the sign-in and dialogs are no wider than a window of 320, 375 or 1280 pixels, and axe finds no fault, light and dark',
    { timeout: 120_000 },
    async () => {
      const page = await admin.visit('', 1280)
      await page.getByLabel('API key').waitFor()
      expect(await findFaults(page, 0)).toEqual([])
      await signIn(page, admin.server.key)

      for (const [turn, view] of views.entries()) {
        await goTo(page, view)
        expect([view, await findFaults(page, turn)]).toEqual([view, []])
        const create = page
          .getByRole('main')
          .getByRole('button', { name: /^Create/ })
          .first()
        if (!(await create.isVisible())) continue
        await create.click()
        await page.getByRole('dialog').waitFor()
        expect([view, 'dialog', await findFaults(page, turn)]).toEqual([view, 'dialog', []])
        await page.keyboard.press('Escape')
      }
    },
  )

  test('keep all but the first filters of a list behind a button where there is little room', async () => {
    const page = await admin.enter('/audit', 375)
    const address = page.getByLabel('IP address')

    expect(await address.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'More filters' }).click()
    await address.fill('192.0.2.1')
    await page.getByText('Nothing matches these filters.').waitFor()
    await page.reload()
    await page.getByText('Nothing matches these filters.').waitFor()

    expect(await address.isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Fewer filters' }).click()
    expect(await address.isVisible()).toBe(false)
    await page.getByLabel('Action').selectOption('signed_in')
    expect(new URL(page.url()).search).toBe('?ip=192.0.2.1&action=signed_in')
  })

  test('are painted within half a second by a warm server, with 150 KB of script at most', async () => {
    const page = await admin.enter('', 1280)
    const paints: number[] = []

    // Of several, as the machine may do much else meanwhile.
    for (let i = 0; i < 5; i++) {
      await page.reload()
      await page.locator('#content h1').first().waitFor()
      paints.push(await page.evaluate<number>(firstPaint))
    }

    expect(Math.min(...paints)).toBeGreaterThan(0)
    expect(Math.min(...paints)).toBeLessThanOrEqual(500)
    const scriptBytes = await page.evaluate<number>(bytesOfScript)
    expect(scriptBytes).toBeGreaterThan(10_000)
    expect(scriptBytes).toBeLessThanOrEqual(150_000)
  })

  test('say of what is not there what it would be, and the way back, and nothing that is not so', async () => {
    const page = await admin.enter('/users/99999999', 1280)

    await page.getByRole('heading', { level: 1, name: 'User' }).waitFor()
    await page.getByRole('alert').getByText('It may have been deleted').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Users' }).waitFor()
    expect(await page.getByRole('heading').allInnerTexts()).not.toContain('Apps')
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(await admin.clear({ task: {} as never })).toEqual([expect.stringMatching(/^404 GET/)])
  })

  test('show the text of a message as it was written', async () => {
    const page = await admin.enter('', 1280)

    await goTo(
      page,
      views.find(view => view.endsWith('/messages'))!,
    )

    await page.getByText(hostile).first().waitFor()
  })

  test('show a name as it is written, without what turns it round, and the uid where nothing of it could be seen', async () => {
    const { server } = admin
    const [turned, unseen, hebrew] = await Promise.all([
      server.person('\u202Egpj.exe \u2066of many'),
      server.person('\u200b\u2060\u3164'),
      server.person('שלום'),
    ])
    const { body: app } = await server.admin.post('/api/apps', { type: 'chat', name: 'Room', members: [hebrew.id] })
    await hebrew.post(`/api/apps/${app.id}/messages`, { text: 'מה שלומך?' })
    const page = await admin.enter('/users', 1280)

    await page.getByRole('link', { name: 'gpj.exe of many', exact: true }).waitFor()
    await page.getByRole('link', { name: unseen.uid, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: unseen.uid }).waitFor()
    await goTo(page, `/users/${turned.id}`)
    await page.getByRole('heading', { level: 1, name: 'gpj.exe of many', exact: true }).waitFor()

    await goTo(page, `/apps/${app.id}/messages`)
    await page.getByText('מה שלומך?').waitFor()
    const { edges, indent } = await page.evaluate<{ edges: number[]; indent: number }>(`(${orderOnScreen})()`)
    expect(edges).toEqual(edges.toSorted((a, b) => a - b))
    expect(indent).toBeGreaterThan(0)
  })

  test('show the URL of a webhook without its password, which stays where the URL is edited', async () => {
    const { server } = admin
    const { body: hook } = await server.admin.post('/api/webhooks', {
      payload_url: 'https://ann:s3cret@example.com/hook',
      triggers: ['messages'],
    })
    const page = await admin.enter('/webhooks', 1280)

    await page.getByRole('link', { name: 'https://ann:***@example.com/hook' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    expect(await page.content()).not.toContain('s3cret')
    await page.getByLabel('URL').fill('https://ann:***@example.com/other')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'https://ann:***@example.com/other' }).waitFor()

    const { body: edited } = await server.admin.get(`/api/webhooks/${hook.id}`)
    expect(edited.payload_url).toBe('https://ann:s3cret@example.com/other')
    await server.admin.delete(`/api/webhooks/${hook.id}`)
  })

  test('show of a webhook that fails what is attempted again, why, and when', async () => {
    const { body: hook } = await admin.server.admin.post('/api/webhooks', {
      payload_url: `${receiver.url}failing`,
      triggers: ['messages'],
      retries: 5,
    })
    const { app } = await admin.server.chatWith(1)
    await admin.server.admin.post(`/api/apps/${app}/messages`, { text: 'hello' })

    const page = await admin.enter(`/webhooks/${hook.id}`, 1280)

    await page.getByText('Retrying').waitFor()
    await page.getByText('The receiver answered 500').waitFor()
    expect(await page.locator('dt', { hasText: 'Next attempt' }).count()).toBe(1)
  })

  test('say that nothing answers, also where a connection was lost unnoticed and where a proxy answers instead', async () => {
    const page = await admin.visit('', 1280)
    await page.clock.install()
    await signIn(page, admin.server.key)
    const alert = page.getByRole('alert')

    // It is never answered.
    await page.route('**/admin/api/users?*', () => {})
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.locator('.skeleton').first().waitFor()
    await page.clock.fastForward(60_000)
    await alert.getByText('The server cannot be reached').waitFor()

    await page.unroute('**/admin/api/users?*')
    await page.route('**/admin/api/users?*', route =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<html>Bad gateway' }),
    )
    await page.getByRole('button', { name: 'Try again' }).click()
    await alert.getByText('502 Bad Gateway').waitFor()
    expect((await alert.innerText()).split('\n').filter(line => line.includes('502'))).toHaveLength(1)
    expect(await alert.innerText()).not.toContain('request id')
    expect(await admin.clear({ task: {} as never })).toEqual([expect.stringMatching(/^502 GET/)])
  })

  test('have an address each, with their filters and their page', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        admin.server.admin.post('/api/users', { uid: `bulk-${i}`, name: `Bulk ${i}` }),
      ),
    )
    const page = await admin.enter('/users?q=Bulk&skip=25', 1280)

    await page.getByText('26–30 of 30').waitFor()
    await page.getByRole('button', { name: 'Previous' }).click()
    await page.getByText('1–25 of 30').waitFor()
    expect(new URL(page.url()).search).toBe('?q=Bulk')
    await page.goBack()

    await page.getByText('26–30 of 30').waitFor()
  })

  test('say what is wrong with what was typed, at its field, and what to look for in the log', async () => {
    const page = await admin.enter('/users', 375)

    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByLabel('Uid').fill('with space')
    await page.getByRole('dialog').getByRole('button', { name: 'Create user' }).click()

    await page.locator('.field-error').getByText('must not contain whitespace').waitFor()
    await page
      .getByRole('alert')
      .getByText(/^Request \S+$/)
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create user' }).click()
    expect(await page.getByLabel('Uid').inputValue()).toBe('')
    expect(await page.locator('.failure').count()).toBe(0)
    expect(await admin.clear({ task: {} as never })).toEqual([expect.stringMatching(/^422 POST/)])
  })

  test('ask for the name of what is deleted for good', async () => {
    const { server } = admin
    const ann = await server.person('Ann')
    const page = await admin.enter(`/users/${ann.id}`, 1280)

    await page.getByRole('button', { name: 'Delete' }).click()
    const button = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    expect(await button.isDisabled()).toBe(true)
    await page.getByRole('dialog').getByRole('textbox').fill('Ann')
    await button.click()

    await page.getByText('User deleted.').waitFor()
    expect((await server.admin.get(`/api/users/${ann.id}`)).status).toBe(404)
  })

  test('can be reached by keyboard alone', async () => {
    const page = await admin.enter('', 1280)

    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.getByRole('link', { name: 'Jobs' }).focus()
    await page.keyboard.press('Enter')

    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    await page.locator('#content:focus').waitFor()
  })

  test('ask and answer by keyboard: a dialog begins at its first field, and goes back to what opened it', async () => {
    const page = await admin.enter('/keys', 1280)
    const name = `By keyboard ${randomUUID().slice(0, 4)}`
    const create = page.getByRole('button', { name: 'Create key' })
    const isFocused = (element: typeof create) => element.evaluate(one => one === one.ownerDocument.activeElement)

    await create.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Secret' }).waitFor()
    expect(await page.evaluate('String(getSelection())')).toMatch(/^wys_/)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await eventually(async () => expect(await isFocused(create)).toBe(true))

    const row = page.getByRole('row').filter({ hasText: name })
    await row.getByRole('button', { name: 'Revoke' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')

    await page.getByText('Key revoked.').waitFor()
    await row.waitFor({ state: 'detached' })
  })

  test('end with the key that they were signed in with', async () => {
    const { server } = admin
    const { body: made } = await server.admin.post('/api/keys', { name: 'For a day' })
    const page = await admin.visit('/webhooks', 1280)
    await signIn(page, made.key)

    await server.admin.delete(`/api/keys/${made.id}`)
    await page.getByRole('link', { name: 'Jobs' }).click()

    await page.getByText('Your session has ended.').waitFor()
    await signIn(page, server.key)
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
  })

  test('list connections, and end them', async () => {
    const { server } = admin
    const ben = await server.person('Ben')
    const socket = await listen(server.url, { token: ben.token })
    const page = await admin.enter(`/realtime?user=${ben.id}`, 375)

    await page.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End this connection' }).click()

    await socket.closed
    await page.getByText('Nothing matches these filters.').waitFor()
  })
})

/** In the browser: when it first painted anything of what it was given, in milliseconds. */
const firstPaint = `new Promise(resolve => {
  const observer = new PerformanceObserver(list => {
    for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime)
  })
  observer.observe({ type: 'paint', buffered: true })
})`

/** In the browser: bytes of all scripts as they are sent. */
const bytesOfScript = `Promise.all([...document.scripts].map(({ src }) => fetch(src, { cache: 'no-store' })))
  .then(answers => answers.reduce((sum, { headers }) => sum + Number(headers.get('content-length')), 0))`

/** In the browser: what is wider than the card that it is in. */
const findCut = `() => {
  const cut = []
  for (const card of document.querySelectorAll('#content .card'))
    for (const part of card.querySelectorAll('td, th, canvas, .button, .badge, input, select'))
      if (part.getBoundingClientRect().right > card.getBoundingClientRect().right + 1)
        cut.push(part.tagName + ' ' + part.textContent.slice(0, 40))
  return cut
}`

/** In the browser: links beside the navigation that nothing but their colour tells from text. WCAG 2.2, 1.4.1. */
const findPlainLinks = `() => [...document.querySelectorAll('#content a:not(.tabs a)')]
  .filter(link => !getComputedStyle(link).textDecorationLine.includes('underline'))
  .map(link => link.textContent.slice(0, 40))`

/** In the browser: words of the API, such as `message_created`, that break within one of their parts. */
const findBroken = `() => [...document.querySelectorAll('#content td a')]
  .filter(link => /^[a-z]+(_[a-z]+)+$/.test(link.textContent))
  .flatMap(link => [...link.childNodes])
  .filter(part => {
    const range = document.createRange()
    range.selectNodeContents(part)
    return range.getClientRects().length > 1
  })
  .map(part => part.textContent)`

/** In the browser: where each word beside the author of a message begins, in their order, and how far from the left its text begins. */
const orderOnScreen = `() => {
  const line = document.querySelector('td .muted')
  const edges = [...line.childNodes].map(node => {
    const range = document.createRange()
    range.selectNodeContents(node)
    return range.getBoundingClientRect().left
  })
  const text = document.createRange()
  text.selectNodeContents(document.querySelector('.item-text'))
  return { edges, indent: text.getBoundingClientRect().left - line.getBoundingClientRect().left }
}`

/** Something hostile for every view to show; the addresses of all of them. */
async function fill(
  { server }: AdminPage,
  receiver: Receiver,
): Promise<{ views: string[]; connection: AsyncDisposable }> {
  const { admin } = server
  const made = async (path: string, body: object) => {
    const { status, body: answered } = await admin.post(path, body)
    expect([path, status]).toEqual([path, 201])
    return answered
  }
  const name = hostile
  const directory = await made('/api/directories', { name: `<script>alert(1)<script>${'d'.repeat(90)}` })
  const ann = await server.person('Ann')
  await admin.patch(`/api/users/${ann.id}`, {
    name,
    comment: hostile,
    tags: ['<b>tag</b>'],
    directories: [directory.id],
  })
  const hook = await made('/api/webhooks', {
    payload_url: `${receiver.url}?<b>${'y'.repeat(90)}`,
    triggers: ['messages'],
  })
  const [chat, posts, files] = await Promise.all(
    ['chat', 'posts', 'files'].map(type => made('/api/apps', { type, name, description: hostile, members: [ann.id] })),
  )
  await ann.post(`/api/apps/${chat.id}/messages`, { text: hostile })
  await ann.post(`/api/apps/${posts.id}/posts`, { text: hostile })
  const form = new FormData()
  form.append('blob', new Blob(['text']), `${'f'.repeat(120)}.txt`)
  const { body: blob } = await ann.request('POST', '/api/blobs', { body: form })
  await ann.post(`/api/apps/${files.id}/files`, { blob_id: blob.id })
  const endpoint = { name: 'look_up', description: hostile, url: 'https://example.com/{id}' }
  const agent = await made('/api/agents', {
    uid: 'helper',
    name,
    provider: 'openai',
    model: hostile,
    instructions: hostile,
    functions: [endpoint],
  })
  await made(`/api/agents/${agent.id}/mcp`, { name: 'crm', url: 'https://example.com/mcp', description: hostile })
  await made('/api/keys', { name })
  const delivery = await eventually(async () => {
    const { data } = (await admin.get(`/api/deliveries?webhook=${hook.id}`)).body
    expect(data).toHaveLength(1)
    return data[0]
  })
  const connection = await listen(server.url, { token: ann.token })
  const sam = await personWithPassword(server, 'sam')
  const client = await register(server, `https://${'client.'.repeat(20)}example/`, hostile)
  await client.exchange(codeOf(await decide(client.page(), sam)))
  const views = [
    ...[
      '/',
      '/keys',
      '/keys/sign-ins',
      '/clients',
      '/users',
      `/users/${ann.id}`,
      '/directories',
      `/directories/${directory.id}`,
    ],
    ...['/apps', `/apps/${chat.id}`, `/apps/${chat.id}/members`, `/apps/${chat.id}/messages`],
    ...[`/apps/${posts.id}/posts`, `/apps/${posts.id}/comments`, `/apps/${files.id}/files`],
    ...[
      '/agents',
      `/agents/${agent.id}`,
      ...['functions', 'servers', 'test', 'runs'].map(part => `/agents/${agent.id}/${part}`),
    ],
    ...['/agents/runs', '/agents/approvals', '/agents/usage', '/webhooks', `/webhooks/${hook.id}`],
    ...[
      '/deliveries',
      `/deliveries/${hook.id}/${delivery.id}`,
      '/storage',
      '/realtime',
      '/metrics',
      '/audit',
      '/settings',
      '/jobs',
    ],
    '/no-such-page',
  ]
  return { views, connection }
}
