import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { readConfig } from '../../src/config/config.ts'
import { openDesk } from '../../src/demo/desk.ts'
import { servePages } from '../../src/demo/pages.ts'
import { importHistory } from '../../src/demo/seed/import.ts'
import { enliven, seed, signIn } from '../../src/demo/workspace.ts'
import { startNode } from '../../src/main.ts'
import { signIn as enter } from './admin-page.ts'
import { launchBrowser } from './browser.ts'

// Makes the pictures of the README anew, of the demo and of administration, light and dark: npm run pictures.

const folder = join(import.meta.dirname, '../../docs/images')
const key = 'wys_the-key-of-the-pictures-is-long-enough'
const DATA_DIR = join(mkdtempSync(join(tmpdir(), 'parley-pictures-')), 'data')
const settings = { PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'warn', VERSION: '32.2.0', ASSISTANT_PROVIDER: 'builtin' }

mkdirSync(folder, { recursive: true })
await importHistory(DATA_DIR)
const node = await startNode(readConfig({ ...settings, API_KEY: key, DATA_DIR }))
const browser = await launchBrowser()
const access = { url: node.url, key }
const people = await seed(access)
const pages = await servePages({ server: node.url, key, port: 0, people: people.slice(0, 2) })
await openDesk(access, await signIn(access, people[0]!), pages.url)
await enliven(access, people)

for (const colorScheme of ['light', 'dark'] as const) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme })
  const chat = await context.newPage()
  await chat.goto(pages.url)
  for (const frame of chat.frames().slice(1)) await frame.getByText('the chairs are oiled').last().waitFor()
  await chat.waitForLoadState('networkidle')
  await keep(`chat-${colorScheme}`, await chat.screenshot())

  const admin = await context.newPage()
  await admin.goto(`${node.adminUrl}/apps`)
  await enter(admin, key)
  await admin.waitForLoadState('networkidle')
  await keep(`administration-${colorScheme}`, await admin.screenshot())
}

await browser.close()
await pages.close()
await node.stop()
rmSync(join(DATA_DIR, '..'), { recursive: true })

async function keep(name: string, png: Buffer): Promise<void> {
  const { size } = await sharp(png)
    .webp({ quality: 82 })
    .toFile(join(folder, `${name}.webp`))
  process.stdout.write(`${name}.webp ${Math.round(size / 1024)} KB\n`)
}
