import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the hand-made server is made of. No part of Parley needs any of it, so it has a folder of its own. */
const packages = { express: '5.3.0', pg: '8.23.1', 'socket.io': '4.8.4' }

const dir = join(import.meta.dirname, '../../node_modules/.cache/peers')
const source = join(import.meta.dirname, 'hand-made.mjs')

/** Whether all packages are there, in exactly these versions. */
export function areInstalled(): boolean {
  return Object.entries(packages).every(([name, version]) => readVersion(name) === version)
}

/** Installs what is missing from the registry of npm; throws a sentence where that fails. */
export function install(say: (line: string) => void): void {
  if (areInstalled()) return
  say(`installs ${describePackages()} into ${dir}`)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  try {
    execFileSync('npm', ['install', '--prefix', dir, '--ignore-scripts', '--no-audit', '--no-fund'], { stdio: 'pipe' })
  } catch (error) {
    throw new Error(`--peers needs ${describePackages()} from npm, which could not be installed`, { cause: error })
  }
}

/** Puts the server beside its packages, where Node.js finds them; its path there. */
export function placeServer(): string {
  const file = join(dir, 'hand-made.mjs')
  copyFileSync(source, file)
  return file
}

export function describePackages(): string {
  return Object.entries(packages)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')
}

function readVersion(name: string): string | null {
  try {
    return (JSON.parse(readFileSync(join(dir, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
      .version
  } catch {
    // It is not installed.
    return null
  }
}
