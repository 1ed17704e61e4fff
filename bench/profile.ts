import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Frame {
  functionName: string
  url: string
  lineNumber: number
}

interface Profile {
  nodes: { id: number; callFrame: Frame }[]
  samples: number[]
  timeDeltas: number[]
}

const functionsShown = 30
const placesShown = 15

/** Prints for each CPU profile of a folder where the time went: by function, and by folder or package. */
export function describeProfiles(dir: string): void {
  for (const file of globSync('*.cpuprofile', { cwd: dir }).sort()) {
    const profile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as Profile
    const functions = describe(profile, nameOf, functionsShown)
    const places = describe(profile, placeOf, placesShown)
    process.stdout.write(`\n${file}\n${functions.join('\n')}\n\n${places.join('\n')}\n`)
  }
}

/** Time spent in functions themselves, without what they call, added up by a name. */
function describe({ nodes, samples, timeDeltas }: Profile, toName: (frame: Frame) => string, shown: number): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, toName(callFrame)]))
  const spentMs = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const name = names.get(id)!
    spentMs.set(name, (spentMs.get(name) ?? 0) + timeDeltas[at]! / 1000)
  }
  spentMs.delete('(idle)')
  const total = [...spentMs.values()].reduce((sum, ms) => sum + ms, 0)
  return [...spentMs]
    .sort(([, a], [, b]) => b - a)
    .slice(0, shown)
    .map(([name, ms]) => `${((ms / total) * 100).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${name}`)
}

function nameOf({ functionName, url, lineNumber }: Frame): string {
  // Regular expressions are functions with their whole source as a name.
  const name = functionName.slice(0, 60) || '(anonymous)'
  return url === '' ? name : `${name}  ${pathOf(url)}:${lineNumber + 1}`
}

function placeOf({ functionName, url }: Frame): string {
  // V8's own time has names in parentheses; functions without a place are native, mostly the system calls of sockets.
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)'
  if (url.startsWith('node:')) return 'node'
  const path = pathOf(url)
  return /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path.split('/').slice(0, 3).join('/')
}

function pathOf(url: string): string {
  return url.startsWith('file:') ? relative(join(import.meta.dirname, '..'), fileURLToPath(url)) : url
}
