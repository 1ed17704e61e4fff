import { randomBytes } from 'node:crypto'
import { readConfig, readEnvironment } from '../config/config.ts'
import { requireNoArguments } from '../lib/process/arguments.ts'
import { runAsProcess } from '../lib/process/lifetime.ts'
import { startNode } from '../main.ts'
import { servePages } from './pages.ts'
import { openAssistant } from './assistant.ts'
import { openDesk } from './desk.ts'
import { importHistory } from './seed/import.ts'
import { enliven, seed, signIn } from './workspace.ts'

/** The port of the pages, unless PAGE_PORT is set. */
const defaultPagePort = 8081

if (import.meta.main) {
  await runAsProcess(async () => {
    requireNoArguments(process.argv.slice(2), 'PORT=3000 npm run demo')
    // A new key at each start: only the pages need it.
    const key = `wys_${randomBytes(24).toString('base64url')}`
    const environment = readEnvironment()
    const pagePort = Number(environment.PAGE_PORT ?? defaultPagePort)
    const config = readConfig({
      HOST: '127.0.0.1',
      DATA_DIR: '.data/demo',
      LOG_LEVEL: 'warn',
      // The kit expects a version, and complains in the console without it.
      VERSION: '32.2.0',
      // It answers without a network.
      ASSISTANT_PROVIDER: 'builtin',
      ASSISTANT_MODEL: 'search',
      ...(pagePort !== 0 && { DEMO_URL: `http://localhost:${pagePort}` }),
      ...environment,
      API_KEY: key,
    })
    await importHistory(config.dataDir)
    const node = await startNode(config)
    const access = { url: node.url, key }
    const people = await seed(access)
    const pages = await servePages({
      server: node.url,
      key,
      ...(config.host !== null && { host: config.host }),
      port: pagePort,
      people: people.slice(0, 2),
    })
    const ada = await signIn(access, people[0]!)
    await openAssistant(access, ada)
    await openDesk(access, ada, pages.url)
    await enliven(access, people)
    // Bundles them, so that the first person waits no longer than others.
    await fetch(`${pages.url}/assets/stage.js`)
    process.stdout.write(`Two people side by side: ${pages.url}\nThe server: ${node.url}\n`)
    return {
      failed: node.failed,
      async stop() {
        await pages.close()
        await node.stop()
      },
    }
  })
}
