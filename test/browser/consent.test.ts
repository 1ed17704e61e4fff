import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { overflowOf } from '../support/admin-page.ts'
import { hasBrowser, inBrowser, launchBrowser } from '../support/browser.ts'
import { personWithPassword, register } from '../support/oauth.ts'
import { answer, startReceiver } from '../support/receiver.ts'
import { startServer, type Server } from '../support/server.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(!hasBrowser)('the page on which a user allows a client to act in its name', inBrowser, () => {
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), launchBrowser()])
  })
  afterAll(async () => {
    await browser.close()
    await server[Symbol.asyncDispose]()
  })

  test.for([
    [320, 'dark'],
    [1280, 'light'],
  ] as const)(
    'signs in by keyboard, and leads back to the client, %i pixels wide, %s',
    async ([width, colorScheme]) => {
      const ann = await personWithPassword(server, `ann-${randomUUID()}`)
      const said = '<!doctype html><html lang="en"><title>Connected</title><h1>Connected</h1>'
      await using program = await startReceiver(answer(200, said, { 'content-type': 'text/html' }))
      const heard = () => program.requests.map(({ path }) => path).filter(path => path.startsWith('/back'))
      const client = await register(
        server,
        `http://127.0.0.1:${program.port}/back`,
        `<img src=x onerror=alert(1)>${'W'.repeat(60)}`,
      )
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
      const page = await context.newPage()
      const faults: string[] = []
      page.on('console', message => message.type() === 'error' && faults.push(message.text()))

      await page.goto(client.page())
      await page.evaluate(axe)
      expect(await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id }) => id))`)).toEqual([])
      expect(await overflowOf(page)).toBe(0)
      expect(await page.locator('main img').count()).toBe(1)
      await page.getByLabel('Username').fill(ann.username)
      await page.getByLabel('Password').fill('not this')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText('wrong').waitFor()
      expect(await page.getByLabel('Username').inputValue()).toBe(ann.username)
      expect(faults.splice(0)).toEqual([expect.stringContaining('403')])
      await page.getByLabel('Password').fill(ann.password)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Connected' }).waitFor()

      const back = new URL(heard()[0]!, program.url)
      const { status } = await client.exchange(back.searchParams.get('code')!)
      expect(status).toBe(200)
      expect(faults).toEqual([])
      await page.goto(client.page())
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('heading', { name: 'Connected' }).waitFor()
      expect(heard().at(-1)).toContain('error=access_denied')
      await context.close()
    },
  )
})
