import { randomBytes } from 'node:crypto'
import { readConfig, readEnvironment } from '../config/config.ts'
import { runAsProcess } from '../lib/process/lifetime.ts'
import { startNode } from '../main.ts'
import { servePages } from './pages.ts'
import { openDesk } from './desk.ts'
import { seed, signIn } from './workspace.ts'

/** The port of the pages, unless PAGE_PORT is set. */
const defaultPagePort = 8081

if (import.meta.main) {
  await runAsProcess(async () => {
    // A new key at each start: only the pages need it.
    const key = `wys_${randomBytes(24).toString('base64url')}`
    const environment = readEnvironment()
    const config = readConfig({
      HOST: '127.0.0.1',
      DATA_DIR: '.data/demo',
      LOG_LEVEL: 'warn',
      // The kit expects a version, and complains in the console without it.
      VERSION: '32.2.0',
      // It answers without a network.
      ASSISTANT_PROVIDER: 'builtin',
      ...environment,
      API_KEY: key,
    })
    const node = await startNode(config)
    const access = { url: node.url, key }
    const people = await seed(access)
    const pages = await servePages({
      server: node.url,
      key,
      port: Number(environment.PAGE_PORT ?? defaultPagePort),
      people: people.slice(0, 2),
    })
    await openDesk(access, await signIn(access, people[0]!), pages.url)
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
