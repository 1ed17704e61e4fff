import { globSync, readFileSync } from 'node:fs'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = import.meta.dirname + '/..'

/** Files that look at the memory or the processor time of their process. */
const measuring = globSync('test/**/*.test.ts', { cwd: root }).filter(path =>
  /\bprocess\.(?:memoryUsage|cpuUsage)\b/.test(readFileSync(`${root}/${path}`, 'utf8')),
)

/** What has a process of its own. The bench loads uWebSockets.js with its own, small limit for the head of a request. */
const alone = [...measuring, 'test/bench/*.test.ts']

/** The folders whose files take longest, longest first: begun at the end, each would keep one process busy alone. */
const long = ['bench', 'browser', 'faults', 'client', 'kills', 'start', 'cli', 'react']

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = long.findIndex(folder => moduleId.includes(`/test/${folder}/`))
  // A process that has loaded the server is kept only if its next file may share it, too.
  return place >= 0 ? place : project.name === 'alone' ? 0 : long.length
}

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

export default defineConfig({
  root,
  test: {
    globalSetup: 'test/support/global.ts',
    // Most tests wait for a server, a database or a socket: with one file at a time two cores would be idle.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    projects: [
      // A process loads the server once, and runs one file after the other. Modules have no state that a test could see
      // (layout.test.ts), and each test has a database and nodes of its own.
      project({ name: 'shared', include: ['test/**/*.test.ts'], exclude: alone, isolate: false }),
      project({ name: 'alone', include: alone }),
    ],
  },
})

function project(test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  return {
    root,
    // Node 22 has no `await using`; without a target it would reach it as it is.
    oxc: { target: 'es2022' },
    test: {
      // uWebSockets.js is a native addon, which does not survive being loaded by several threads of one process.
      pool: 'forks',
      // Node's word for node:sqlite, which locks data directories.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // For machines that do much else meanwhile; what waits for something has shorter limits of its own.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      ...test,
    },
  }
}
