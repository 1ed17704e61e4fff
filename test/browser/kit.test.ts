import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { servePages } from '../../src/demo/pages.ts'
import { seed } from '../../src/demo/workspace.ts'
import { hasBrowser, inBrowser, Kit } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import type { Person } from '../support/server.ts'

const kinds = { chat: 'chat', feed: 'posts', files: 'files', comments: 'comments' } as const

describe.skipIf(!hasBrowser)('the unmodified UI kit, in a browser', inBrowser, () => {
  let kit: Kit
  beforeAll(async () => {
    kit = await Kit.start()
  })
  afterEach(async context => {
    const faults = await kit.clear(context)
    for (const view of Object.keys(kinds)) await kit.server.admin.delete(`/api/apps/demo-${view}`)
    expect(faults).toEqual([])
  })
  afterAll(() => kit[Symbol.asyncDispose]())

  const twoPeople = () => Promise.all([kit.server.person('Ann'), kit.server.person('Ben')])
  /** The app that the page of this view shows; the page joins by itself. */
  const appOf = async (view: keyof typeof kinds, person: Person) =>
    (await person.put(`/api/apps/demo-${view}`, { type: kinds[view] })).body.id as string

  test('what one writes in a chat, the other sees being typed and then arrive', async () => {
    const [ann, ben] = await twoPeople()
    const [app] = [await appOf('chat', ann), await appOf('chat', ben)]
    await ann.post(`/api/apps/${app}/messages`, { text: 'Are you there?' })
    const [anns, bens] = [await kit.show(ann, 'chat'), await kit.show(ben, 'chat')]
    await anns.getByText('Are you there?').waitFor()
    await bens.getByText('Are you there?').waitFor()

    await write(bens, 'Here I am!')
    await anns.locator('wy-message-typing svg').first().waitFor()
    await send(bens)

    await anns.locator('wy-message').getByText('Here I am!').waitFor()
  })

  test('reactions appear on both sides', async () => {
    const [ann, ben] = await twoPeople()
    const app = await appOf('chat', ann)
    const { body: message } = await ann.post(`/api/apps/${app}/messages`, { text: 'Shall we react?' })
    const [anns, bens] = [await kit.show(ann, 'chat'), await kit.show(ben, 'chat')]
    await anns.getByText('Shall we react?').waitFor()
    const target = bens.locator('wy-message').filter({ hasText: 'Shall we react?' })

    await target.locator('wy-button[title=React] button').click()
    await target.locator('wy-button').filter({ hasText: '👍' }).locator('button').first().click()

    await eventually(async () => {
      const { body } = await ann.get(`/api/messages/${message.id}/reactions`)
      expect(body.data).toMatchObject([{ content: '👍' }])
    })
    const seen = (page: Page) =>
      page.locator('wy-message').filter({ hasText: 'Shall we react?' }).locator('wy-button[small]').getByText('👍')
    await seen(anns).first().waitFor()
    await seen(bens).first().waitFor()
  })

  test('a click on an option votes', async () => {
    const [ann, ben] = await twoPeople()
    const app = await appOf('chat', ann)
    const poll = { text: 'Tea or coffee?', options: [{ text: 'Tea' }, { text: 'Coffee' }] }
    const { body: message } = await ann.post(`/api/apps/${app}/messages`, poll)
    const page = await kit.show(ben, 'chat')

    await page.locator('wy-message').filter({ hasText: 'Tea or coffee?' }).getByText('Coffee', { exact: true }).click()

    await eventually(async () => {
      const { body } = await ben.get(`/api/messages/${message.id}`)
      expect(body.options.data).toMatchObject([{}, { text: 'Coffee', has_voted: true, votes: { count: '1' } }])
    })
  })

  test('a file that one attaches, the other can see', async () => {
    const [ann, ben] = await twoPeople()
    await appOf('chat', ann)
    const [anns, bens] = [await kit.show(ann, 'chat'), await kit.show(ben, 'chat')]

    await anns.locator('input[type=file]').first().setInputFiles(note('plan.txt', 'Plan A'))
    await anns.getByText('plan.txt').first().waitFor()
    await write(anns, 'The plan')
    await send(anns)

    await bens.locator('wy-message').filter({ hasText: 'The plan' }).getByText('plan.txt').waitFor()
  })

  test('a conversation appears in the messenger, is unread, and is read when it is opened', async () => {
    const [ann, ben] = await twoPeople()
    const page = await kit.show(ben, 'messenger')
    await page.locator('wy-messenger').waitFor()
    const { body: app } = await ann.post('/api/apps', { type: 'private_chat', members: [ben.id] })

    // Until it has subscribed, the kit does not hear of anything.
    const isListed = async () => {
      await ann.post(`/api/apps/${app.id}/messages`, { text: 'Lunch?' })
      expect(await page.locator('wy-conversation-item').getByText('Lunch?').count()).toBe(1)
    }
    await eventually(isListed, { timeoutMs: 20_000, everyMs: 500 })
    await page.getByText('Lunch?').first().click()
    await page.locator('wy-message').getByText('Lunch?').first().waitFor()

    await eventually(async () => expect((await ben.get(`/api/apps/${app.id}`)).body.is_unread).toBe(false))
    await ann.post(`/api/apps/${app.id}/messages`, { text: 'At noon' })
    await page.locator('wy-message').getByText('At noon').waitFor()
  })

  test('a post appears in the feed, and can be commented', async () => {
    const [ann, ben] = await twoPeople()
    const page = await kit.show(ann, 'feed')
    await write(page, 'We have a garden')
    await page.locator('wy-button').filter({ hasText: 'Post' }).last().click()
    const post = page.locator('wy-post').filter({ hasText: 'We have a garden' })
    await post.waitFor()

    const app = await appOf('feed', ben)
    const { body: posts } = await ben.get(`/api/apps/${app}/posts?order_by=id+desc`)
    const count = post.getByText(/\d comments?/).first()
    // The kit reads its posts again after it has written one, and forgets what it heard meanwhile.
    await eventually(
      async () => {
        await ben.post(`/api/posts/${posts.data[0].id}/comments`, { text: 'Lovely' })
        expect(await count.count()).toBe(1)
      },
      { everyMs: 500 },
    )

    await count.click()
    await post.getByText('Lovely').first().waitFor()
  })

  test('comments arrive on the other side', async () => {
    const [ann, ben] = await twoPeople()
    await appOf('comments', ann)
    const [anns, bens] = [await kit.show(ann, 'comments'), await kit.show(ben, 'comments')]
    await bens.locator('.cm-content').waitFor()

    await write(anns, 'I was here')
    await anns.locator('wy-editor-comment wy-button:has(wy-icon[name=send]) button').click()

    await bens.getByText('I was here').first().waitFor()
  })

  test('a file that is uploaded again becomes a new version', async () => {
    const [ann] = await twoPeople()
    const app = await appOf('files', ann)
    const page = await kit.show(ann, 'files')
    const input = page.locator('[data-testid=uploadFile]')
    // The server refuses to replace the file unasked, and the kit asks.
    kit.allow(/^409 POST|A file named .* already exists/)
    await input.setInputFiles(note('paper.txt', 'one'))
    await page.locator('tr').filter({ hasText: 'paper.txt' }).waitFor()

    await input.setInputFiles(note('paper.txt', 'one and two'))
    await page.locator('wy-button[title=Replace] button').click()

    await eventually(async () => {
      const { body: files } = await ann.get(`/api/apps/${app}/files`)
      const { body: versions } = await ann.get(`/api/files/${files.data[0].id}/versions`)
      expect(versions.data).toHaveLength(2)
    })
  })

  test('who is mentioned is notified', async () => {
    const [ann, ben] = await twoPeople()
    const app = await appOf('chat', ann)
    await appOf('chat', ben)
    const page = await kit.show(ben, 'notifications')

    await ann.post(`/api/apps/${app}/messages`, { text: `Look, [Ben](@u${ben.id})!` })

    await page
      .getByText(/mentioned you/)
      .first()
      .waitFor()
  })

  test('a long chat is read back to its beginning, before and after a reload', async () => {
    const [ann, ben] = await twoPeople()
    const app = await appOf('chat', ann)
    const say = (text: string) => ann.post(`/api/apps/${app}/messages`, { text })
    for (let i = 1; i <= 60; i++) await say(`Line ${i} of 60`)
    const page = await kit.show(ben, 'chat')
    const line = (i: number) => page.locator('wy-message').getByText(`Line ${i} of 60`, { exact: true })

    for (const round of ['first', 'second']) {
      await line(60).waitFor()
      expect(await line(1).count(), round).toBe(0)
      await line(60).hover()
      await eventually(
        async () => {
          await page.mouse.wheel(0, -2_000)
          expect(await line(1).count()).toBe(1)
        },
        { timeoutMs: 20_000, everyMs: 200 },
      )
      for (const i of [2, 25, 26, 35, 36, 59]) expect(await line(i).count(), `line ${i}, ${round}`).toBe(1)
      await page.reload()
    }
    // Until it has subscribed again, the kit does not hear of anything.
    const isLive = async () => {
      await say('And one more')
      expect(await page.locator('wy-message').getByText('And one more').count()).toBeGreaterThan(0)
    }
    await eventually(isLive, { timeoutMs: 20_000, everyMs: 500 })
  })

  test('the demo shows two people side by side, and what passes between them', async () => {
    const access = { url: kit.server.url, key: kit.server.key }
    // As the demo's settings make it.
    await kit.server.admin.post('/api/agents', {
      uid: 'assistant',
      name: 'Assistant',
      provider: 'builtin',
      model: 'echo',
    })
    const people = (await seed(access)).slice(0, 2)
    const pages = await servePages({ server: access.url, key: access.key, port: 0, people })
    const page = await kit.visit(`${pages.url}/kit`)
    const panes = page.frames().slice(1)
    for (const [i, name] of ['Ada Park', 'Ben Ruiz'].entries()) {
      await panes[i]!.locator('nav').getByText(name).waitFor()
      await panes[i]!.locator('wy-conversation-item').getByText('Launch').waitFor()
      await panes[i]!.getByText('Lunch?').first().click()
      await panes[i]!.locator('wy-message').getByText('Lunch?').waitFor()
    }

    await panes[0]!.locator('.cm-content').first().click()
    await page.keyboard.type('With pleasure')
    await panes[1]!.locator('wy-message-typing svg').first().waitFor()
    await panes[0]!.locator('wy-button[title=Send] button').click()

    await panes[1]!.locator('wy-message').getByText('With pleasure').waitFor()
    await pages.close()
  })
})

const note = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })

async function write(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').first().click()
  await page.keyboard.type(text)
}

async function send(page: Page): Promise<void> {
  await page.locator('wy-button[title=Send] button').click()
}
