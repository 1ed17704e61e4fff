import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { gzipSync } from 'node:zlib'
import { build, type Rollup } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, inBrowser, launchBrowser, watchFaults } from '../support/browser.ts'
import { resolveForReactNative } from '../support/metro.ts'
import { ViteProject } from '../support/packages.ts'
import { startServer, type Person, type Server } from '../support/server.ts'
import { serveFolder } from '../support/static-files.ts'

const run = promisify(execFile)
const guide = readFileSync(join(import.meta.dirname, '../../docs/react.md'), 'utf8')
const page = /^```tsx src\/App\.tsx\n([\s\S]*?)^```/m.exec(guide)![1]!

/** Its other examples, which leave out what they need of the packages. */
const examples = Array.from(guide.matchAll(/^```tsx\n([\s\S]*?)^```/gm), ([, code]) => code!)

/** What they have around them. */
const around = `
declare const token: string
declare const response: NodeJS.WritableStream
declare const Title: () => null
declare module 'react-native' {
  type Node = import('react').ReactNode
  export function FlatList<Item>(list: {
    inverted: boolean
    data: Item[]
    keyExtractor: (item: Item) => string
    renderItem: (shown: { item: Item }) => Node
    onEndReached: () => void
  }): Node
  export function Text(text: { children: Node }): Node
}`

const others = [
  ...['memo', 'Suspense', 'useEffect', 'useState'].map(name => ({ name, from: 'react' })),
  { name: 'renderToPipeableStream', from: 'react-dom/server' },
  { name: 'createParley', from: '@parley/client' },
  { name: 'type ContentDraft', from: '@parley/client' },
]

function exportedBy(types: string) {
  const lists = Array.from(types.matchAll(/export \{([^}]*)\}/g), ([, list]) => list!.split(','))
  return lists.flat().map(name => ({ name: name.trim(), from: '@parley/react' }))
}

function importsFor(code: string, names: { name: string; from: string }[]): string {
  const needed = [...names, ...others].filter(({ name }) => {
    const bare = name.replace('type ', '')
    return (
      new RegExp(`\\b${bare}\\b`).test(code) && !new RegExp(`import .*\\b${bare}\\b|function ${bare}\\b`).test(code)
    )
  })
  return needed.map(({ name, from }) => `import { ${name} } from '${from}'`).join('\n')
}

describe.skipIf(!hasBrowser)(
  'the first page of the React guide, in the template of Vite, with the packed packages',
  inBrowser,
  () => {
    let server: Server
    let browser: Browser
    let project: ViteProject
    let site: Awaited<ReturnType<typeof serveFolder>>
    const faults: string[] = []
    beforeAll(async () => {
      ;[server, browser, project] = await Promise.all([startServer(), launchBrowser(), ViteProject.make()])
      project.write('src/App.tsx', page)
      project.write('src/main.tsx', project.read('src/main.tsx').replace("import './index.css'\n", ''))
      project.write('.env.local', `VITE_PARLEY_URL=${server.url}\n`)
      await project.build()
      site = await serveFolder(join(project.folder, 'dist'))
    })
    afterAll(async () => {
      await browser.close()
      await site[Symbol.asyncDispose]()
      project[Symbol.dispose]()
      await server[Symbol.asyncDispose]()
    })
    const open = async ({ token }: Person): Promise<Page> => {
      const page = await browser.newPage({ viewport: { width: 1000, height: 700 } })
      watchFaults(page, fault => faults.push(fault))
      page.setDefaultTimeout(10_000)
      await page.goto(`${site.url}/#${token}`)
      return page
    }

    /** KB of what Vite makes of code, minified and compressed, without the packages named. */
    const sizeOf = async (code: string, external: (string | RegExp)[]): Promise<number> => {
      project.write('src/size.js', code)
      const { output } = (await build({
        root: project.folder,
        configFile: false,
        logLevel: 'silent',
        mode: 'production',
        build: { write: false, rollupOptions: { input: join(project.folder, 'src/size.js'), external } },
      })) as Rollup.RollupOutput
      const scripts = output.flatMap(file => (file.type === 'chunk' ? file.code : []))
      return gzipSync(scripts.join('')).length / 1000
    }

    test('three hooks are at most 8 KB compressed beside React and the client, and everything is at most 40 KB with it', async () => {
      const hooks =
        "import { useMessages, useSend, useTyping } from '@parley/react'\nglobalThis.kept = [useMessages, useSend, useTyping]"
      const all =
        "import * as all from '@parley/react'\nimport { createParley } from '@parley/client'\nglobalThis.kept = [{ ...all }, createParley]"

      const sizes = { hooks: await sizeOf(hooks, [/^react/, '@parley/client']), all: await sizeOf(all, [/^react/]) }

      process.stdout.write(`${JSON.stringify(sizes)} KB\n`)
      expect(sizes.hooks).toBeLessThanOrEqual(8)
      expect(sizes.all).toBeLessThanOrEqual(40)
    })

    test('programs without a page import every entry, and React Native finds the hooks', async () => {
      const program = [
        "import * as all from '@parley/react'",
        "import * as waiting from '@parley/react/suspense'",
        'console.log(typeof all.useMessages, typeof all.Messages, typeof waiting.useMessages)',
      ]
      project.write('src/imports.mjs', program.join('\n'))
      const main = join(project.folder, 'src/imports.mjs')
      const imported = (...options: string[]) => run(process.execPath, [...options, main], { cwd: project.folder })

      expect((await imported()).stdout).toBe('function function function\n')
      expect((await imported('--conditions=react-native')).stdout).toBe('function undefined function\n')
      const found = ['@parley/react', '@parley/react/suspense', '@parley/client'].map(name =>
        resolveForReactNative(main, name).slice(project.folder.length),
      )
      expect(found).toEqual([
        '/node_modules/@parley/react/dist/hooks/index.js',
        '/node_modules/@parley/react/dist/suspense.js',
        '/node_modules/@parley/client/dist/index.js',
      ])
    })

    test('every example of the guide fits the packages', async () => {
      const names = ['index', 'hooks/index'].flatMap(file =>
        exportedBy(project.read(`node_modules/@parley/react/dist/${file}.d.ts`)),
      )
      for (const [index, example] of examples.entries())
        project.write(`guide/${index}.tsx`, `${importsFor(example, names)}\n${example}`)
      project.write('guide/around.d.ts', around)
      const options = { types: ['vite/client', 'node'], noUnusedLocals: false }
      const settings = { extends: './tsconfig.app.json', compilerOptions: options, include: ['guide'] }
      project.write('tsconfig.guide.json', JSON.stringify(settings))

      await project.run('node_modules/.bin/tsc', ['-p', 'tsconfig.guide.json'])

      expect(examples.length).toBeGreaterThan(10)
    })

    test('it has 25 lines', () => {
      expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
    })

    test('two people chat: a message appears at once, typing is seen, and what is unread is marked until it is opened', async () => {
      const { people } = await server.chatWith(2)
      const [ann, ben] = await Promise.all(people.map(open))
      for (const page of [ann!, ben!]) await page.getByRole('navigation').getByRole('button').waitFor()

      await ann!.getByRole('navigation').getByRole('button').click()
      await ann!.getByRole('textbox').fill('Hello @B')
      await ann!.getByRole('option', { name: 'Ben' }).waitFor()
      await ann!.keyboard.press('Enter')
      await ann!.keyboard.type('look')
      await ann!.keyboard.press('Enter')

      await ann!.getByRole('log').getByRole('article').getByText('look').waitFor()
      await ben!.getByRole('navigation').getByRole('img', { name: 'unread' }).waitFor()
      await ben!.getByRole('navigation').getByRole('button').click()
      await ben!.getByRole('log').getByText('look').waitFor()
      await ben!.getByRole('navigation').getByRole('img', { name: 'unread' }).waitFor({ state: 'detached' })
      await ben!.getByRole('textbox').pressSequentially('Hi')
      await ann!.getByText('Ben is typing…').waitFor()
      expect(faults).toEqual([])
    })
  },
)
