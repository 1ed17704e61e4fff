import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repairs } from './repair-postgres.ts'

const ownModules = join(import.meta.dirname, '../../../node_modules')

/** The native part of uWebSockets.js is built for it, and TypeScript runs without a build step. */
const major = 22

/**
 * Why this process cannot run Parley, with the way out: its Node.js, or a driver of PostgreSQL without the repairs that
 * `npm install` makes; null where it can.
 */
export function findRuntimeFault(version = process.versions.node, modules = ownModules): string | null {
  if (Number.parseInt(version, 10) !== major) {
    return (
      `Parley runs on Node.js ${major}, and this is Node.js ${version}. Use npm start, which takes the Node.js that npm ` +
      'install has brought; where it has brought none, as with --ignore-scripts: npm rebuild node'
    )
  }
  const isRepaired = repairs.every(({ file, to }) => readFileSync(join(modules, file), 'utf8').includes(to))
  if (isRepaired) return null
  return (
    'The driver of PostgreSQL lacks the repairs without which it may lose or mix up queries when connections break, as ' +
    'after npm ci --ignore-scripts. Make them: npm run postinstall'
  )
}
