import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ownRoot = join(import.meta.dirname, '../../..')

/** uWebSockets.js ships a native module for this version, which also runs TypeScript without a build step. */
const major = 22

/** The patch of the driver, with the reason for each hunk. The script `postinstall` applies it with patch-package. */
const patchFile = join(import.meta.dirname, 'postgres+3.4.9.patch')

/**
 * The reason why this process cannot run Parley, and what to do: a Node.js of another version, or a driver that lacks
 * the patch that `npm install` applies. Null where it can run. `root` is the folder with `node_modules`.
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

/** True where the patched files contain each run of added lines, followed by the line that follows it in the patch. */
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
