import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AdminPage, follow, overflowOf, signIn } from '../support/admin-page.ts'
import { hasBrowser, inBrowser } from '../support/browser.ts'
import { acknowledge, answer, startReceiver, type Receiver } from '../support/receiver.ts'

describe.skipIf(!hasBrowser)('the first day of an owner, on the administration page', inBrowser, () => {
  let admin: AdminPage
  let receiver: Receiver
  beforeAll(async () => {
    admin = await AdminPage.start()
    receiver = await startReceiver()
  })
  afterEach(async context => {
    expect(await admin.clear(context)).toEqual([])
  })
  afterAll(async () => {
    for (const part of [receiver, admin]) await part[Symbol.asyncDispose]()
  })

  test.for([375, 1280])('is done without a program, in a window of %i pixels', { timeout: 120_000 }, async width => {
    const { server } = admin
    for (const webhook of (await server.admin.get('/api/webhooks')).body.data ?? [])
      await server.admin.delete(`/api/webhooks/${webhook.id}`)
    const ann = await server.person(`Ann ${width}`)
    const room = await server.admin.post('/api/apps', { type: 'chat', name: `Garden ${width}`, members: [ann.id] })
    receiver.behaviour = answer(500, 'broken')
    const page = await admin.visit('', width)

    // Sign in.
    await signIn(page, server.key)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    // Make a key, which is shown once and works.
    await follow(page, 'API keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').fill(`CRM ${width}`)
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const made = await page.getByRole('textbox', { name: 'Secret' }).inputValue()
    expect((await server.request('GET', '/api/users', { headers: { authorization: `Bearer ${made}` } })).status).toBe(
      200,
    )
    await page.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByRole('cell', { name: `CRM ${width}` }).waitFor()
    expect(await page.content()).not.toContain(made)

    // Make a webhook.
    await follow(page, 'Webhooks')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const url = `${receiver.url}?${width}`
    await page.getByLabel('URL').fill(url)
    await page.getByLabel('messages').check()
    await page.getByLabel('Retries').fill('0')
    await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
    expect(await page.getByRole('textbox', { name: 'Secret' }).inputValue()).toMatch(/^whsec_.{44}$/)
    await page.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByRole('link', { name: url }).click()
    await page.getByRole('heading', { name: url }).waitFor()

    // See a delivery fail, and have it delivered once its receiver is well.
    await ann.post(`/api/apps/${room.body.id}/messages`, { text: 'Hello <img src=x onerror=alert(1)>' })
    await page.getByRole('cell', { name: 'Failure' }).waitFor()
    receiver.behaviour = acknowledge
    await page.getByRole('button', { name: 'Redeliver', exact: true }).click()
    await page.getByRole('cell', { name: 'Success' }).waitFor()
    await page.getByRole('cell', { name: 'Failure' }).waitFor()
    await page.getByRole('link', { name: 'message_created' }).first().click()
    await page.getByText('X-Service-Signature').first().waitFor()

    // Find a user.
    await follow(page, 'Users')
    await page.getByLabel('Search').fill(`Ann ${width}`)
    await page.getByRole('link', { name: `Ann ${width}` }).click()
    await page.getByRole('heading', { name: `Ann ${width}` }).waitFor()
    await page.getByRole('link', { name: `Garden ${width}` }).waitFor()

    // Trash a message, of which the text is shown as it is.
    await page.getByRole('link', { name: `Garden ${width}` }).click()
    await page.getByRole('link', { name: 'Messages' }).click()
    const message = page.getByRole('row').filter({ hasText: 'Hello <img src=x onerror=alert(1)>' })
    await message.getByRole('button', { name: 'Trash' }).click()
    await page.getByText('Nothing here yet.').waitFor()
    await page.getByLabel('Show').selectOption('In the trash')
    await message.getByRole('button', { name: 'Restore' }).waitFor()
    expect((await ann.get(`/api/apps/${room.body.id}/messages`)).body.count).toBe('0')

    // Look at the charts, and sign out.
    await follow(page, 'Metrics')
    await page.getByRole('button', { name: '24 hours' }).click()
    await page.locator('.chart canvas').first().waitFor()
    expect(page.url()).toContain('span=24h')
    expect(await overflowOf(page)).toBeLessThanOrEqual(0)
    if (width < 800) await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()

    // All of it is in the audit log.
    const entries = await server.admin.get('/api/audit?take=100')
    const actions = (entries.body.data as { action: string }[]).map(({ action }) => action)
    for (const action of [
      'signed_in',
      'key_created',
      'webhook_created',
      'delivery_repeated',
      'message_trashed',
      'signed_out',
    ])
      expect(actions).toContain(action)
    expect(JSON.stringify(entries.body)).not.toContain(made)
  })
})
