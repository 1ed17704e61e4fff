import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { readConfig } from '../../src/config/config.ts'
import { openAssistant } from '../../src/demo/assistant.ts'
import { openDesk } from '../../src/demo/desk.ts'
import { servePages } from '../../src/demo/pages.ts'
import { importHistory } from '../../src/demo/seed/import.ts'
import { enliven, seed, signIn } from '../../src/demo/workspace.ts'
import { startNode } from '../../src/main.ts'
import { signIn as enter } from './admin-page.ts'
import { launchBrowser } from './browser.ts'

// Makes the pictures of the README and of docs/react.md anew, light and dark: npm run pictures. They need an emoji font
// (Debian: fonts-noto-color-emoji).

const folder = join(import.meta.dirname, '../../docs/images')
const key = 'wys_the-key-of-the-pictures-is-long-enough'
const DATA_DIR = join(mkdtempSync(join(tmpdir(), 'parley-pictures-')), 'data')
const settings = {
  PORT: '0',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'warn',
  VERSION: '32.2.0',
  ASSISTANT_PROVIDER: 'builtin',
  ASSISTANT_MODEL: 'search',
}

/** Parts, and which of their states is drawn. */
const shown = {
  Messages: 0,
  ConversationList: 0,
  Composer: 2,
  Feed: 0,
  Comments: 0,
  Files: 0,
  NotificationBell: 1,
  Presence: 1,
}

mkdirSync(folder, { recursive: true })
await importHistory(DATA_DIR)
const node = await startNode(readConfig({ ...settings, API_KEY: key, DATA_DIR }))
const browser = await launchBrowser()
const access = { url: node.url, key }
const people = await seed(access)
const pages = await servePages({ server: node.url, key, port: 0, people: people.slice(0, 2) })
const ada = await signIn(access, people[0]!)
await openAssistant(access, ada)
await openDesk(access, ada, pages.url)
await enliven(access, people)

for (const colorScheme of ['light', 'dark'] as const) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme })
  const chat = await context.newPage()
  await chat.goto(pages.url)
  for (const name of ['Ada Park', 'Ben Ruiz'])
    await chat.frameLocator(`iframe[title='${name}']`).getByText('the chairs are oiled').last().waitFor()
  await chat.waitForLoadState('networkidle')
  await keep(`chat-${colorScheme}`, await chat.screenshot())

  const admin = await context.newPage()
  await admin.goto(`${node.adminUrl}/apps`)
  await enter(admin, key)
  await admin.waitForLoadState('networkidle')
  await keep(`administration-${colorScheme}`, await admin.screenshot())
  await keepParts(colorScheme)
}

await browser.close()
await pages.close()
await node.stop()
rmSync(join(DATA_DIR, '..'), { recursive: true })

/** Each part of `@parley/react`, in the state in which most of it is seen. */
async function keepParts(colorScheme: 'light' | 'dark'): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 440, height: 9000 },
    deviceScaleFactor: 1.5,
    colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  const page = await context.newPage()
  await page.clock.setFixedTime('2026-03-03T12:00:00Z')
  await page.goto(`${pages.url}/parts`)
  await page.addStyleTag({ content: 'figure { border-color: transparent !important } figcaption { display: none }' })
  await page.locator('figure').last().waitFor()
  for (const [part, state] of Object.entries(shown)) {
    const figure = page.locator(`[data-part=${part}] figure`).nth(state)
    await keep(`${part.replace(/\B[A-Z]/g, '-$&').toLowerCase()}-${colorScheme}`, await figure.screenshot())
  }
  await context.close()
}

async function keep(name: string, png: Buffer): Promise<void> {
  const { size } = await sharp(png)
    .webp({ quality: 82 })
    .toFile(join(folder, `${name}.webp`))
  process.stdout.write(`${name}.webp ${Math.round(size / 1024)} KB\n`)
}
