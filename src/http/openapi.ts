import type { Route } from './route.ts'
export function describeApi(_routes: readonly Route[], version: string): object {
  return { openapi: '3.1.1', info: { title: 'x', version } }
}
