import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: import.meta.dirname + '/..',
  // Node 22 has no `await using`; without a target it would reach it as it is.
  oxc: { target: 'es2022' },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global.ts',
    // uWebSockets.js is a native addon, which does not survive being loaded by several threads of one process.
    pool: 'forks',
    // Most tests wait for a server, a database or a socket: with one file at a time two cores would be idle.
    maxWorkers: 3,
    // Node's word for node:sqlite, which locks data directories.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // For machines that do much else meanwhile; what waits for something has shorter limits of its own.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
