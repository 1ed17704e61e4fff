import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ownRoot = join(import.meta.dirname, '../../..')

/** The native part of uWebSockets.js is built for it, and TypeScript runs without a build step. */
const major = 22

/** The repairs of the driver, with what each is for. patch-package makes them, in the script `postinstall`. */
const patchFile = join(import.meta.dirname, 'postgres+3.4.9.patch')

/**
 * Why this process cannot run Parley, with the way out: its Node.js, or a driver of PostgreSQL without the repairs that
 * `npm install` makes; null where it can. `root` holds `node_modules`.
 */
export function findRuntimeFault(version = process.versions.node, root = ownRoot): string | null {
  if (Number.parseInt(version, 10) !== major) {
    return (
      `Parley runs on Node.js ${major}, and this is Node.js ${version}. Use npm start, which takes the Node.js that npm ` +
      'install has brought; where it has brought none, as with --ignore-scripts: npm rebuild node'
    )
  }
  if (isPatched(root)) return null
  return (
    'The driver of PostgreSQL lacks the repairs without which it may lose or mix up queries when connections break, as ' +
    'after npm ci --ignore-scripts. Make them: npm run postinstall'
  )
}

/** Whether the files that the patch changes have every run of lines that it adds, before the line that follows it there. */
function isPatched(root: string): boolean {
  return readFileSync(patchFile, 'utf8')
    .split(/^diff --git /m)
    .slice(1)
    .every(part => {
      const [, path] = /^\+\+\+ b\/(.+)$/m.exec(part)!
      const text = readFileSync(join(root, path!), 'utf8')
      const added = part.match(/(?:^\+(?!\+\+ ).*\n)+ .*\n/gm) ?? []
      return added.every(lines => text.includes(lines.replaceAll(/^[+ ]/gm, '')))
    })
}
