import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hasBrowser, inBrowser, launchBrowser, watchFaults } from '../support/browser.ts'
import { bundleReact, serveFiles } from '../support/react-page.ts'
import { startServer } from '../support/server.ts'

const run = promisify(execFile)

/** A page of every component, and a part that waits for its data. */
const page = `
import { StrictMode, Suspense } from 'react'
import { createParley } from '@parley/client'
import * as parts from '@parley/react'
import * as waiting from '@parley/react/suspense'
function Texts() {
  const { data, status } = waiting.useMessages(APP)
  return <ul aria-label={status}>{data.map(({ key, plain }) => <li key={key}>{plain}</li>)}</ul>
}
const Page = ({ parley }) => (
  <StrictMode>
    <parts.ParleyProvider parley={parley}>
      <parts.ConversationList onSelect={() => {}} />
      <main>
        <parts.Presence app={APP} />
        <parts.NotificationBell />
        <parts.Messages app={APP} />
        <parts.Composer app={APP} />
        <Suspense fallback={<p>Waiting</p>}><Texts /></Suspense>
      </main>
    </parts.ParleyProvider>
  </StrictMode>
)
const parley = createParley({ url: SERVER, token: TOKEN })
`

const onServer = `
import { renderToPipeableStream } from 'react-dom/server'
${page}
const stream = renderToPipeableStream(<Page parley={parley} />, {
  onAllReady: () => {
    stream.pipe(process.stdout)
    parley.close()
  },
  onError: error => console.error(error),
})
`

const inPage = `
import { hydrateRoot } from 'react-dom/client'
import '@parley/react/styles.css'
${page}
hydrateRoot(document.getElementById('root'), <Page parley={parley} />)
`

test.runIf(hasBrowser)(
  'a page made on a server has what was waited for, and lives on in the browser',
  inBrowser,
  async () => {
    await using server = await startServer()
    const { app, people } = await server.chatWith(2)
    const [ann, ben] = people
    await ben.post(`/api/apps/${app}/messages`, { text: 'Made on the server' })
    const define = {
      SERVER: JSON.stringify(server.url),
      TOKEN: JSON.stringify(ann.token),
      APP: JSON.stringify(app),
    }
    const [program, files] = await Promise.all([
      bundleReact(onServer, { define, platform: 'node', format: 'cjs', outfile: '/server.cjs' }),
      bundleReact(inPage, { define }),
    ])
    const folder = mkdtempSync(join(tmpdir(), 'parley-render-'))
    writeFileSync(join(folder, 'server.cjs'), program.get('/server.cjs')!)

    const { stdout: html, stderr } = await run(process.execPath, [join(folder, 'server.cjs')])

    rmSync(folder, { recursive: true })
    expect(stderr).toBe('')
    expect(html).toContain('<li>Made on the server</li>')
    expect(html).not.toContain('Waiting')
    const browser = await launchBrowser()
    await using site = await serveFiles(files, html)
    const page = await browser.newPage()
    const faults: string[] = []
    watchFaults(page, fault => faults.push(fault))
    await page.goto(site.url)
    await page.getByRole('article').getByText('Made on the server').waitFor()
    await ben.post(`/api/apps/${app}/messages`, { text: 'Written later' })
    await page.getByRole('list', { name: 'live' }).getByText('Written later').waitFor()
    expect(faults).toEqual([])
    await browser.close()
  },
)
